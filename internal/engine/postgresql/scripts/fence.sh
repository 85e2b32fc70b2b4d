# Takes the writes away from the server of this node, whatever state it is in,
# within its limit. Only a process that is gone counts as fenced: a session may
# make itself read-write again, and a hung server may wake up.

step=$((limit / 4))
[ "$step" -gt 0 ] || step=1
pid=$(run 2 "head -n 1 $data/postmaster.pid")
case "$pid" in
'' | *[!0-9]*) pid= ;;
esac

alive() {
	[ -n "$pid" ] || return 1
	case "$(ps -o stat= -p "$pid")" in
	'' | Z*) return 1 ;;
	esac
}

done_by() {
	section how
	printf '%s\n' "$1"
	section end
	exit 0
}

alive || done_by "was down"

# First what works at once: sessions end, and new ones only read. Terminated,
# and not cancelled, as a cancelled wait for a synchronous standby is reported to
# the client as a commit.
# (https://www.postgresql.org/docs/15/warm-standby.html#SYNCHRONOUS-REPLICATION).
sql "$step" "ALTER SYSTEM SET default_transaction_read_only = on; SELECT pg_reload_conf();
SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()" >/dev/null
run "$step" "$bin/pg_ctl stop -w -t $step -m fast -D $data" >/dev/null
alive || done_by "stopped in order"
run "$step" "$bin/pg_ctl stop -w -t $step -m immediate -D $data" >/dev/null
alive || done_by "stopped at once"

# A backend that is busy does not notice that its postmaster is gone, and could
# still commit. Halted, the postmaster starts no further ones.
kill -STOP "$pid"
for child in $(ps -o pid= --ppid "$pid"); do kill -KILL "$child"; done
kill -KILL "$pid"
tries=0
while alive && [ "$tries" -lt "$step" ]; do
	tries=$((tries + 1))
	sleep 1
done
alive || done_by "killed"
section how
printf 'not fenced: process %s is still there\n' "$pid"
section end
exit 1
