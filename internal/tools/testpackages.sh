#!/bin/sh
# Installs the packages of hadr-agent into clean root directories and looks at
# what is there: testpackages.sh VERSION DIR ARCH
set -eu

version=$1
dir=$2
arch=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
	echo "FAIL: $1" >&2
	exit 1
}

# look checks an installed root directory.
look() {
	root=$1
	[ -x "$root/usr/bin/hadr-agent" ] || fail "$2: no /usr/bin/hadr-agent"
	[ -f "$root/usr/lib/systemd/system/hadr-agent.service" ] || fail "$2: no unit"
	[ -f "$root/usr/share/doc/hadr-agent/agent.env" ] || fail "$2: no example of agent.env"
	[ -d "$root/etc/hadr" ] || fail "$2: no /etc/hadr"
	if [ -e "$root/etc/hadr/agent.env" ]; then fail "$2: it brings a configuration that is nobody's"; fi
	found=$("$root/usr/bin/hadr-agent" --version) || fail "$2: the binary does not run"
	case "$found" in
	*"$version") ;;
	*) fail "$2: the binary says $found, not $version" ;;
	esac
	echo "ok: $2"
}

deb=$(ls "$dir"/hadr-agent_"$version"*_"$arch".deb)
rpm=$(ls "$dir"/hadr-agent-"$version"*.rpm | head -n 1)
(cd "$dir" && sha256sum --quiet -c SHA256SUMS) || fail "SHA256SUMS does not match"

if command -v dpkg >/dev/null 2>&1; then
	root="$work/deb"
	mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/triggers"
	: >"$root/var/lib/dpkg/status"
	dpkg --root="$root" --force-not-root --force-script-chrootless --log="$work/dpkg.log" -i "$deb" >"$work/out" 2>&1 || {
		cat "$work/out" >&2
		fail "dpkg does not install $deb"
	}
	look "$root" "deb, installed with dpkg"
	dpkg --root="$root" --force-not-root --force-script-chrootless --log="$work/dpkg.log" -r hadr-agent >"$work/out" 2>&1 || fail "dpkg does not remove hadr-agent"
	if [ -e "$root/usr/bin/hadr-agent" ]; then fail "dpkg leaves the binary behind"; fi
else
	echo "skipped: the installation of the deb, as dpkg is not on PATH"
fi

if command -v rpm >/dev/null 2>&1; then
	root="$work/rpm"
	mkdir -p "$root"
	rpm --root "$root" --initdb
	rpm --root "$root" -i --nodeps --noscripts "$rpm" || fail "rpm does not install $rpm"
	look "$root" "rpm, installed with rpm"
else
	# The magic number of a package: https://rpm-software-management.github.io/rpm/manual/format_v4.html
	[ "$(head -c 4 "$rpm" | od -An -tx1 | tr -d ' \n')" = edabeedb ] || fail "$rpm is no rpm"
	echo "skipped: the installation of the rpm, as rpm is not on PATH"
fi

if command -v systemd-analyze >/dev/null 2>&1; then
	root="$work/unit"
	mkdir -p "$root"
	dpkg-deb -x "$deb" "$root" 2>/dev/null || cp -R "$work/rpm/." "$root"
	sed "s|/usr/bin/hadr-agent|$root/usr/bin/hadr-agent|" "$root/usr/lib/systemd/system/hadr-agent.service" >"$work/hadr-agent.service"
	systemd-analyze verify --man=no "$work/hadr-agent.service" >"$work/out" 2>&1 || {
		cat "$work/out" >&2
		fail "systemd-analyze verify refuses the unit"
	}
	if grep -q hadr-agent.service "$work/out"; then
		cat "$work/out" >&2
		fail "systemd-analyze verify complains about the unit"
	fi
	echo "ok: unit, accepted by systemd-analyze verify"
else
	echo "skipped: the check of the unit, as systemd-analyze is not on PATH"
fi
