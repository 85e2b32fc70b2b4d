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

# verify lets systemd read the unit of an installed root directory.
verify() {
	if ! command -v systemd-analyze >/dev/null 2>&1; then
		echo "skipped: the check of the unit in the $2, as systemd-analyze is not on PATH (apt-get install systemd)"
		return
	fi
	sed "s|/usr/bin/hadr-agent|$1/usr/bin/hadr-agent|" "$1/usr/lib/systemd/system/hadr-agent.service" >"$work/hadr-agent.service"
	systemd-analyze verify --man=no "$work/hadr-agent.service" >"$work/out" 2>&1 || {
		cat "$work/out" >&2
		fail "systemd-analyze verify refuses the unit of the $2"
	}
	if grep -q hadr-agent.service "$work/out"; then
		cat "$work/out" >&2
		fail "systemd-analyze verify complains about the unit of the $2"
	fi
	echo "ok: unit of the $2, accepted by systemd-analyze verify"
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
	verify "$root" deb
	dpkg --root="$root" --force-not-root --force-script-chrootless --log="$work/dpkg.log" -r hadr-agent >"$work/out" 2>&1 || fail "dpkg does not remove hadr-agent"
	if [ -e "$root/usr/bin/hadr-agent" ]; then fail "dpkg leaves the binary behind"; fi
else
	echo "skipped: the installation of the deb, as dpkg is not on PATH"
fi

if command -v rpm >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
	root="$work/rpm"
	mkdir -p "$root"
	# Debian's rpm wants to be told that it is meant.
	meant=
	if rpm --force-debian --version >/dev/null 2>&1; then meant=--force-debian; fi
	rpm -K --nosignature "$rpm" >/dev/null || fail "the digests in $rpm do not match"
	# A clean directory has neither a shell nor what the package needs of one; the
	# scripts are looked at below.
	rpm --root "$root" --initdb
	rpm --root "$root" -i $meant --nodeps --noscripts "$rpm" || fail "rpm does not install $rpm"
	rpm --root "$root" -V --nodeps hadr-agent || fail "what rpm installs is not what the package says"
	look "$root" "rpm, installed with rpm"
	verify "$root" rpm
	rpm --root "$root" -e $meant --noscripts hadr-agent || fail "rpm does not remove hadr-agent"
	for left in usr/bin/hadr-agent usr/lib/systemd/system/hadr-agent.service; do
		if [ -e "$root/$left" ]; then fail "rpm leaves /$left behind"; fi
	done
else
	# The magic number of a package: https://rpm-software-management.github.io/rpm/manual/format_v4.html
	[ "$(head -c 4 "$rpm" | od -An -tx1 | tr -d ' \n')" = edabeedb ] || fail "$rpm is no rpm"
	echo "skipped: the installation of the rpm, as rpm is not on PATH or this is not root (apt-get install rpm)"
fi

# script runs one of the package's scripts as on a machine that systemd runs,
# and prints what it asks of systemctl: script TEXT ARGUMENT
script() {
	echo "$1" | sed "s|/run/systemd/system|$work/systemd|; s|/etc/hadr/agent.env|$work/agent.env|" >"$work/script"
	: >"$work/asked"
	PATH="$work/bin:$PATH" sh "$work/script" "$2" || fail "the script fails with argument $2"
	tr '\n' ';' <"$work/asked"
}

# asks compares that with what it should: asks WHAT TEXT ARGUMENT WANT
asks() {
	found=$(script "$2" "$3")
	[ "$found" = "$4" ] || fail "$1 asks systemctl for '$found', not '$4'"
}

if command -v rpm >/dev/null 2>&1; then
	mkdir -p "$work/bin" "$work/systemd"
	# shellcheck disable=SC2016 # for the script that it writes
	printf '#!/bin/sh\necho "$@" >>%s\n' "$work/asked" >"$work/bin/systemctl"
	chmod +x "$work/bin/systemctl"
	installed=$(rpm -qp --nosignature --qf '%{POSTIN}' "$rpm")
	removed=$(rpm -qp --nosignature --qf '%{PREUN}' "$rpm")
	# The argument is the number of copies that are left:
	# https://rpm-software-management.github.io/rpm/manual/scriptlet_expansion.html
	asks "a first installation" "$installed" 1 "daemon-reload;enable hadr-agent.service;"
	: >"$work/agent.env"
	asks "an upgrade of a configured agent" "$installed" 2 "daemon-reload;enable hadr-agent.service;restart hadr-agent.service;"
	asks "the removal of the old one in an upgrade" "$removed" 1 ""
	asks "a removal" "$removed" 0 "disable --now hadr-agent.service;"
	rm -r "$work/systemd"
	asks "an installation without systemd" "$installed" 1 ""
	asks "a removal without systemd" "$removed" 0 ""
	echo "ok: scripts of the rpm"
else
	echo "skipped: the scripts of the rpm, as rpm is not on PATH (apt-get install rpm)"
fi
