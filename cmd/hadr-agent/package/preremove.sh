#!/bin/sh
# An upgrade restarts the agent afterwards; only a removal stops it for good.
set -e
case "${1:-remove}" in
upgrade | 1) exit 0 ;;
esac
if [ -n "${DPKG_ROOT:-}" ] || [ ! -d /run/systemd/system ]; then
	exit 0
fi
systemctl disable --now hadr-agent.service >/dev/null 2>&1 || true
