#!/bin/sh
# Runs a command against moto's server (https://github.com/getmoto/moto), an AWS
# that nobody here wrote: its address is in HADR_TEST_ENDPOINT.
# Usage: moto.sh COMMAND...
set -eu
out=$(mktemp)
moto_server -H 127.0.0.1 -p 0 >"$out" 2>&1 &
pid=$!
trap 'kill $pid 2>/dev/null; wait $pid 2>/dev/null; rm -f "$out"' EXIT
for _ in $(seq 150); do
	HADR_TEST_ENDPOINT=$(sed -n 's/^.*Running on \(http:[^ ]*\).*$/\1/p' "$out" | head -n 1)
	if [ -n "$HADR_TEST_ENDPOINT" ]; then break; fi
	kill -0 $pid 2>/dev/null || { cat "$out" >&2; exit 1; }
	sleep 0.2
done
[ -n "$HADR_TEST_ENDPOINT" ] || { echo "moto_server did not start in 30 s:" >&2; cat "$out" >&2; exit 1; }
export HADR_TEST_ENDPOINT
"$@"
