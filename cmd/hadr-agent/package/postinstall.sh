#!/bin/sh
# The unit starts with the next boot, or now where it is configured already. In
# a directory that is no running system there is nothing to start.
set -e
if [ -n "${DPKG_ROOT:-}" ] || [ ! -d /run/systemd/system ]; then
	exit 0
fi
systemctl daemon-reload
systemctl enable hadr-agent.service >/dev/null 2>&1 || true
if [ -f /etc/hadr/agent.env ]; then
	systemctl restart hadr-agent.service
fi
