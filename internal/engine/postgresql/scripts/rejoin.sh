# Brings the server of this node back as standby of the other one, with
# pg_rewind where its log went on after the other one's began. What can't be
# brought back needs a reseed, and is told apart from what may be tried again.

role=
fork=
lost=
rewound=
reply=

details() {
	section role
	printf '%s\n' "$role"
	section fork
	printf '%s\n' "$fork"
	section lost
	printf '%s\n' "$lost"
	section rewind
	printf '%s\n' "$rewound"
	section reply
	printf '%s\n' "$reply"
}

source="host=$peer_host port=$peer_port user=$replication_user sslmode=$sslmode application_name=$node connect_timeout=5"
there() {
	printf '%s\n' "$2" | as_owner "$1" "$bin/psql -XAtq -v ON_ERROR_STOP=1 -d '$source dbname=postgres'" 2>&1
}

begin

# R28: nobody finds a way here before it is a standby.
drop_vip || finish refused "address $vip can't be taken away"

[ ! -f "$state/rewinding" ] || finish needs_reseed "an earlier pg_rewind did not end: the data of this node are neither the old nor the new ones"

found=$(there 10 "SELECT pg_is_in_recovery() || '|' || system_identifier || '|' || ('x' || substr(pg_walfile_name(CASE WHEN NOT pg_is_in_recovery() THEN pg_current_wal_lsn() END), 1, 8))::bit(32)::int FROM pg_control_system()")
case "$found" in
'false|'*) ;;
*) finish refused "node $peer_host:$peer_port does not answer as primary: $found" ;;
esac
found=${found#false|}
timeline=${found#*|}
system=$(control 'Database system identifier')
[ "${found%|*}" = "$system" ] || finish needs_reseed "the data of this node are of another database system: $system here, ${found%|*} on $peer_host"

read_role
following=
if [ "$role" = STANDBY ]; then
	following=$(sql 5 "SELECT 1 FROM pg_stat_wal_receiver WHERE status = 'streaming' AND received_tli = $timeline")
fi

if [ -z "$following" ]; then
	if server_runs; then
		reply=$(stop_server fast 20)
		if server_runs; then reply=$(stop_server immediate 20); fi
		if server_runs; then finish failed "the server of this node can't be stopped: $reply"; fi
	fi
	own=$(control "Latest checkpoint's TimeLineID")
	state_on_disk=$(control 'Database cluster state')
	wal="$data/pg_wal"

	# Where the new timeline left the own one: the log after it was never seen
	# by the new primary.
	if [ "$own" -lt "$timeline" ]; then
		history=$(printf '%08X.history' "$timeline")
		fork=$(there 10 "SELECT convert_from(pg_read_binary_file('pg_wal/$history'), 'UTF8')" | awk -v tli="$own" '$1 == tli { print $2 }')
		[ -n "$fork" ] || finish needs_reseed "timeline $own of this node is no ancestor of timeline $timeline of $peer_host"
		lost=$(run 60 "$bin/pg_waldump -p $wal -t $own -s $fork" | awk '
			match($0, /lsn: [0-9A-F]+\/[0-9A-F]+/) {
				end = substr($0, RSTART + 5, RLENGTH - 5)
				if (match($0, /tot\): *[0-9]+\/ *[0-9]+/)) { size = substr($0, RSTART, RLENGTH); sub(/.*\/ */, "", size) }
			}
			/rmgr: Transaction/ && match($0, /desc: COMMIT [^;]*/) { n++; last = substr($0, RSTART + 13, RLENGTH - 13); if (n == 1) first = last }
			END { if (end != "") print end "|" size "|" n + 0 "|" first "|" last }')
	elif [ "$own" -gt "$timeline" ]; then
		finish needs_reseed "this node is on timeline $own, later than $timeline of $peer_host: which of them is right?"
	fi

	# A server that ended in order as standby, or at the fork, only follows.
	follows=
	case "$state_on_disk" in
	'shut down in recovery') follows=yes ;;
	'shut down' | 'in archive recovery') if [ -f "$data/standby.signal" ]; then follows=yes; fi ;;
	esac
	if [ -z "$follows" ] && [ "$own" -eq "$timeline" ]; then
		finish needs_reseed "this node was primary on the timeline $timeline of $peer_host: two primaries wrote it"
	fi
	if [ -z "$follows" ]; then
		hints=$(control 'wal_log_hints setting')
		checksums=$(control 'Data page checksum version')
		if [ "$hints" != on ] && [ "$checksums" = 0 ]; then
			finish needs_reseed "pg_rewind needs data checksums or wal_log_hints = on, and this node has neither"
		fi
		there 120 CHECKPOINT >/dev/null # before it the source's control file may name the old timeline
		rm -rf "$state/config"
		mkdir "$state/config" || finish failed "directory $state/config can't be made"
		for file in postgresql.conf postgresql.auto.conf pg_hba.conf pg_ident.conf; do
			if [ -f "$data/$file" ]; then cp -p "$data/$file" "$state/config/$file" || finish failed "$data/$file can't be kept"; fi
		done
		keep rewinding "$operation" || finish failed "file $state/rewinding can't be written"
		rewound=$(run "$limit" "$bin/pg_rewind -D $data --source-server='$source dbname=postgres'")
		[ $? -eq 0 ] || finish needs_reseed "pg_rewind failed or took longer than $limit s"
		cp -p "$state/config/"* "$data/" || finish needs_reseed "the configuration of this node could not be put back"
	fi
	follow || finish failed "the server can't be made a standby: is $data/postgresql.auto.conf readable?"
	rm -f "$state/rewinding" "$state/demoted" "$state/contact" "$state/synchronous"
	keep promoting 0
	run 5 "truncate -s 0 $log" >/dev/null
	reply=$(start_server 240) || finish failed "pg_ctl start: $reply $(run 5 "tail -n 3 $log")"
fi

# It follows once it has caught up: the primary calls that streaming.
tries=0
while [ "$(there 5 "SELECT count(*) FROM pg_stat_replication WHERE application_name = '$node' AND state = 'streaming'")" != 1 ]; do
	tries=$((tries + 1))
	trouble=$(run 5 "tail -n 20 $log")
	case "$trouble" in
	*'has already been removed'*) finish needs_reseed "the primary no longer has the log that this node lacks (wal_keep_size, replication slots)" ;;
	*'is not a child of this server'* | *'forked off current database system timeline'*) finish needs_reseed "the logs of the nodes have parted: $(printf '%s' "$trouble" | tail -n 2)" ;;
	esac
	[ "$tries" -lt 60 ] || finish failed "it does not stream from $peer_host:$peer_port: $(printf '%s' "$trouble" | tail -n 2)"
	sleep 1
done
read_role

# From here on a commit waits for this node again.
if [ "$mode" = sync ]; then
	reply=$(there 10 "ALTER SYSTEM SET synchronous_standby_names = '\"$node\"'; SELECT pg_reload_conf()") ||
		finish failed "it follows, but the primary could not be told to wait for it: $reply"
fi
finish started ""
