# Installs a given version of hadr-agent on this host, configures which node it
# is, and says whether it works. Installing what is installed already changes
# nothing.
#
# The package is taken only if its digest is the one that was given: whoever can
# change the file behind an address must not become root here.

root="${HADR_ROOT:-}"
work=

section() { printf '=== hadr %s\n' "$1"; }

finish() {
	if [ -n "$work" ]; then rm -rf "$work"; fi
	section outcome
	printf '%s\n' "$1"
	section reason
	printf '%s\n' "$2"
	section status
	systemctl show --property=ActiveState,SubState,StatusText hadr-agent 2>&1
	section end
	[ "$1" = healthy ]
	exit $?
}

installed() {
	case "$(hadr-agent --version 2>/dev/null)" in
	*" $version") return 0 ;;
	esac
	return 1
}

fetch() {
	case "$source" in
	s3://*) aws s3 cp --only-show-errors "$source" "$work/$name" ;;
	*) curl --fail --silent --show-error --location --proto =https --max-time 300 --output "$work/$name" "$source" ;;
	esac
}

install_package() {
	case "$name" in
	*.deb) dpkg --install "$work/$name" ;;
	*) rpm --upgrade --replacepkgs --oldpackage "$work/$name" ;;
	esac
}

mkdir -p "$root/var/lib/hadr" "$root/etc/hadr" || finish failed "directories /var/lib/hadr and /etc/hadr can't be made"
mark="$root/var/lib/hadr/agent.sha256"
if ! installed || [ ! -f "$mark" ] || [ "$(cat "$mark")" != "$sha256" ]; then
	name=${source##*/}
	work=$(mktemp -d) || finish failed "no temporary directory"
	output=$(fetch 2>&1) || finish failed "$source can't be fetched: $output"
	printf '%s  %s\n' "$sha256" "$work/$name" >"$work/sum"
	sha256sum -c "$work/sum" >/dev/null 2>&1 || finish refused "the digest of $source is not $sha256: nothing was installed"
	output=$(install_package 2>&1) || finish failed "the package can't be installed: $output"
	installed || finish failed "the package is installed, but hadr-agent does not say that it is version $version"
	printf '%s\n' "$sha256" >"$mark"
fi

configured="$root/etc/hadr/agent.env"
{
	printf 'HADR_TABLE=%s\n' "$table"
	printf 'HADR_GROUP=%s\n' "$group"
	printf 'HADR_NODE=%s\n' "$node"
	if [ "$metrics" != none ]; then printf 'HADR_METRICS=%s\n' "$metrics"; fi
} >"$configured.tmp" && mv "$configured.tmp" "$configured" || finish failed "file $configured can't be written"

systemctl daemon-reload
systemctl enable hadr-agent >/dev/null 2>&1
systemctl restart hadr-agent || finish failed "systemctl restart hadr-agent failed: journalctl -u hadr-agent"
# It says that it is ready as soon as its loops run; one that ends again is
# started again by its unit, so it is looked at twice.
for pause in 2 8; do
	sleep "$pause"
	systemctl is-active --quiet hadr-agent || finish failed "hadr-agent does not stay up: journalctl -u hadr-agent"
done
finish healthy "hadr-agent $version runs as node $node of group $group"
