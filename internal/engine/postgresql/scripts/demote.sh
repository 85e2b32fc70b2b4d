# Stops the primary on this node in order, so that its log ends with a shutdown
# checkpoint that its standby receives, and leaves it a standby. If the stop does
# not end in time, the node becomes primary again.

checkpoint=

details() {
	section role
	printf '%s\n' "$role"
	section checkpoint
	printf '%s\n' "$checkpoint"
}

role=
begin
read_role
[ "$role" = PRIMARY ] || finish refused "this node is not a primary that answers: ${role:-no answer}"

streams=$(sql 5 "SELECT count(*) FROM pg_stat_replication WHERE application_name = '$peer' AND state = 'streaming'")
[ "$streams" = 1 ] || finish refused "node $peer does not stream from this one: $streams"

# The stop writes what is left since the last checkpoint.
reply=$(sql 120 CHECKPOINT) || finish refused "CHECKPOINT: $reply"
in_time || finish refused "the deadline $deadline has passed: the clock of this node reads $now"
reply=$(stop_server fast 30)
if server_runs; then
	stop_server immediate 20 >/dev/null
	again=$(start_server 240)
	read_role
	finish failed "the server did not stop in 30 s ($reply), perhaps as its standby does not take the rest of the log; it was started again: ${role:-$again}"
fi
case "$(control 'Database cluster state')" in
'shut down') ;;
*)
	again=$(start_server 240)
	read_role
	finish failed "the server did not stop in order; it was started again: ${role:-$again}"
	;;
esac
checkpoint=$(control 'Latest checkpoint location')
role=
cp -p "$data/postgresql.auto.conf" "$state/demoted.conf" && keep demoted "$operation" || finish failed "files in $state can't be written"
follow || finish failed "the stopped server can't be made a standby: is $data/postgresql.auto.conf readable?"
drop_vip || finish failed "address $vip can't be taken away"
finish stopped ""
