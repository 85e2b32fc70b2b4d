# Stops the server of this node within a limit, in order if that works. What it
# leaves running is killed by who called.

step=$(printf '%d.%03d' $(($limit_ms / 3000)) $(($limit_ms / 3 % 1000)))

done_by() {
	section how
	printf '%s\n' "$1"
	section end
	exit 0
}

stopped() {
	case "$1" in
	*'server stopped'* | *'erver running'*) return 0 ;;
	esac
	return 1
}

# First what works at once: sessions end, and new ones only read. Terminated,
# and not cancelled: who cancels a wait for a synchronous standby is told that
# the transaction is committed
# (https://www.postgresql.org/docs/15/warm-standby.html#SYNCHRONOUS-REPLICATION-HA).
sql "$step" "ALTER SYSTEM SET default_transaction_read_only = on; SELECT pg_reload_conf();
SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()" >/dev/null
reply=$(run "$step" "$bin/pg_ctl stop -w -t 60 -m fast -D $data")
if stopped "$reply"; then done_by "stopped in order"; fi
reply=$(run "$step" "$bin/pg_ctl stop -w -t 60 -m immediate -D $data")
if stopped "$reply"; then done_by "stopped at once"; fi
done_by "not stopped"
