# Promotes the standby on this node, at most once per operation, step and
# attempt.

positions=
reply=
bound=

details() {
	section role
	printf '%s\n' "$role"
	section promote
	printf '%s\n' "$reply"
	section positions
	printf '%s\n' "$positions"
	section contact
	kept contact
	section synchronous
	kept synchronous
	section promoted_at
	date +%s.%N
}

role=
begin

# R25: the address is here before any client can be led here.
hold_vip || finish refused "address $vip can't be bound"

read_role
case "$role" in
PRIMARY) finish primary "the database was primary already" ;;
STANDBY) ;;
*)
	unbind
	finish refused "the role of the database can't be read"
	;;
esac

# A switchover loses nothing: the old primary's last record is here.
if [ "$at_least" != none ]; then
	sql 65 "DO \$\$ BEGIN FOR i IN 1..600 LOOP EXIT WHEN pg_last_wal_replay_lsn() > '$at_least'; PERFORM pg_sleep(0.1); END LOOP; END \$\$" >/dev/null
	if [ "$(sql 5 "SELECT pg_last_wal_replay_lsn() > '$at_least'")" != t ]; then
		unbind
		finish standby "it has not replayed the end of the old primary's log, $at_least, but $(sql 5 'SELECT pg_last_wal_replay_lsn()')"
	fi
fi

if ! in_time; then
	unbind
	finish refused "the deadline $deadline has passed: the clock of this node reads $now"
fi

# As primary it is alone: with a synchronous standby declared, its commits would
# wait for ever. Rejoin declares the other node again.
prepared=$(sql 5 "ALTER SYSTEM SET synchronous_standby_names = ''; ALTER SYSTEM RESET default_transaction_read_only; SELECT pg_reload_conf();
SELECT 'at|' || pg_last_wal_receive_lsn() || '|' || pg_last_wal_replay_lsn() || '|' || coalesce(extract(epoch FROM pg_last_xact_replay_timestamp())::text, '')")
if [ $? -ne 0 ]; then
	unbind
	finish refused "the standby can't be prepared: $prepared"
fi
positions=$(printf '%s\n' "$prepared" | sed -n 's/^at|//p')

# A promotion that was asked for goes on whoever waits for it: the mark tells a
# status command that the role may change at any moment.
keep promoting "$now"
reply=$(sql 50 "SELECT pg_promote(true, 45)")
read_role
case "$role.$reply" in
PRIMARY.*)
	keep promoting 0
	# pg_rewind trusts the new primary's control file, which names the new
	# timeline only after a checkpoint
	# (https://www.postgresql.org/docs/15/app-pgrewind.html#id-1.9.5.8.8).
	sql 300 CHECKPOINT </dev/null >/dev/null 2>&1 9>&- &
	finish primary ""
	;;
STANDBY.*'permission denied'* | STANDBY.*'could not create file'* | STANDBY.*'connection to server on socket'*'failed'*)
	keep promoting 0
	unbind
	finish standby "PostgreSQL refused the promotion"
	;;
esac
finish unknown "the role of the database after the promotion is not certain"
