#!/bin/sh
# Runs `terraform test` in a module with the provider that was built:
#   internal/tools/modtest.sh BIN MODULE
set -eu
bin=$(cd "$1" && pwd)
rc=$(mktemp)
trap 'rm -f "$rc"' EXIT
cat >"$rc" <<RC
provider_installation {
  dev_overrides {
    "hadr-dev/hadr" = "$bin"
  }
  direct {}
}
RC
cd "$2"
TF_CLI_CONFIG_FILE=$rc CHECKPOINT_DISABLE=1 terraform test
