#!/bin/sh
# Looks at every service of a sandbox with the AWS CLI, a client whose wire
# protocols nobody here wrote. Usage: awscli.sh DIRECTORY-OF-BINARIES [CHECKS...]
# CHECKS are files in awscli/ without their ending; without any, all are run.
# With HADR_TEST_ENDPOINT it looks at the AWS there instead, except for hosts.
set -eu
bin=$1
shift
here=$(dirname "$0")
work=$(mktemp -d)
pid=
trap 'test -z "$pid" || { kill $pid 2>/dev/null; wait $pid 2>/dev/null; }; rm -rf "$work"' EXIT
if [ -n "${HADR_TEST_ENDPOINT:-}" ]; then
	export AWS_ENDPOINT_URL="$HADR_TEST_ENDPOINT" AWS_REGION=eu-central-1 AWS_DEFAULT_REGION=eu-central-1 AWS_ACCESS_KEY_ID=AKIDEXAMPLE AWS_SECRET_ACCESS_KEY=secret
	hosts= instances=0
else
	"$bin/hadr" sandbox --listen 127.0.0.1:0 --speed 10 >"$work/sandbox" 2>&1 &
	pid=$!
	for _ in $(seq 300); do
		if grep -q '^Ready' "$work/sandbox"; then break; fi
		kill -0 $pid 2>/dev/null || { cat "$work/sandbox" >&2; exit 1; }
		sleep 0.2
	done
	eval "$(grep '^export ' "$work/sandbox")"
	hosts=command instances=4
fi
unset AWS_PROFILE
# A shim of pyenv takes as long as the CLI itself.
if real=$(pyenv which aws 2>/dev/null); then PATH=$(dirname "$real"):$PATH; fi
export AWS_PAGER= instances
code=$(find "$here/../../provider/zips" -name 'bootstrap_*.zip' | head -n 1)
. "$here/awscli/checks.sh"

# The CLI takes a second for each call, so two lanes go at a time.
lane() { # SERVICE...
	for service; do (. "$here/awscli/$service.sh") || return 1; done
}
if [ $# -gt 0 ]; then
	lane "$@"
	exit
fi
# shellcheck disable=SC2086 # none or one
(lane $hosts dynamodb cloudwatch ssm logs lambda) >"$work/one" 2>&1 &
one=$!
failed=0
(lane ec2 identity messaging events route53) || failed=1
wait $one || failed=1
cat "$work/one"
if [ $failed = 1 ]; then exit 1; fi
echo "all services passed"
