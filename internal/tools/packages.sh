#!/bin/sh
# Builds the packages of hadr-agent: packages.sh VERSION DIR ARCH...
# An architecture is one of Go's, such as amd64.
set -eu

version=$1
out=$2
shift 2
command -v nfpm >/dev/null 2>&1 || {
	echo "nfpm is not on PATH: run make tools" >&2
	exit 1
}
mkdir -p "$out"
out=$(cd "$out" && pwd)
for arch in "$@"; do
	binary="$out/hadr-agent_linux_$arch"
	GOOS=linux GOARCH=$arch go build -ldflags "-s -w -X main.version=$version" -o "$binary" ./cmd/hadr-agent
	for packager in deb rpm; do
		(cd cmd/hadr-agent/package && ARCH=$arch VERSION=$version BINARY=$binary nfpm package --packager "$packager" --target "$out/")
	done
done
(cd "$out" && sha256sum ./*.deb ./*.rpm >SHA256SUMS)
