# Starts the database server of this node in the role that it has on disk, or
# gives the role of primary back to one that this same operation demoted.

details() {
	section role
	printf '%s\n' "$role"
	section log
	run 5 "tail -n 5 $log"
}

role=
begin

if [ -f "$state/rewinding" ]; then
	finish refused "pg_rewind did not end on this node: its data are neither the old nor the new ones; reseed it"
fi
if [ "$as" = primary ]; then
	[ "$(kept demoted)" = "$operation" ] || finish refused "operation $operation has not demoted this node"
	server_runs && finish refused "the server runs already"
	cat "$state/demoted.conf" >"$data/postgresql.auto.conf" || finish failed "$data/postgresql.auto.conf can't be written"
	rm -f "$data/standby.signal" "$state/demoted"
fi
if ! server_runs; then
	reply=$(start_server 240) || finish failed "pg_ctl start: $reply"
fi
read_role
case "$role" in
'') finish failed "the server runs and does not answer" ;;
PRIMARY)
	# A primary that fenced itself left this behind.
	sql 5 "ALTER SYSTEM RESET default_transaction_read_only; SELECT pg_reload_conf()" >/dev/null
	# R29: the other node is stopped for certain, so nobody would confirm.
	if [ "$alone" = yes ]; then
		sql 5 "ALTER SYSTEM SET synchronous_standby_names = ''; SELECT pg_reload_conf()" >/dev/null
	fi
	;;
esac
finish started ""
