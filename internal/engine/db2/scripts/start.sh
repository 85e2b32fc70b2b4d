# Starts the database server and the database of this node, in the role that it
# has on disk. It never changes a role.
#
# A primary whose standby does not answer refuses to start (SQL1768N, reason 7).
# It is started without one only where the other node is stopped for certain
# (R29), which whoever sends this command has read.

state="${HADR_ROOT:-}/var/lib/hadr/$group"

section() { printf '=== hadr %s\n' "$1"; }

refuse() {
	section outcome
	printf 'refused\n'
	section reason
	printf '%s\n' "$1"
	section end
	exit 1
}

as_owner() {
	runuser -l "$owner" -c "LC_ALL=C.UTF-8 LANG=C.UTF-8 timeout -k 5 $1 $2" 2>&1
}

mkdir -p "$state" || refuse "directory $state can't be made"

# R12: a node belongs to one state table.
if [ -f "$state/table" ]; then
	table=$(cat "$state/table")
	[ "$table" = "$table_arn" ] || refuse "this node belongs to state table $table, not to $table_arn: remove $state/table if that one is gone"
fi

# R21: never below the highest epoch that this node has seen, and never late.
highest=0
if [ -f "$state/epoch" ]; then
	highest=$(cat "$state/epoch")
fi
case "$highest" in
'' | *[!0-9]*) refuse "file $state/epoch is damaged: it must hold a number" ;;
esac
[ "$epoch" -ge "$highest" ] || refuse "epoch $epoch is over: this node has seen epoch $highest"
now=$(date +%s)
[ "$now" -lt "$deadline" ] || refuse "the deadline $deadline has passed: the clock of this node reads $now"
printf '%s\n' "$epoch" >"$state/epoch.tmp" && mv "$state/epoch.tmp" "$state/epoch" || refuse "file $state/epoch can't be written"

# One start at a time; Db2 answers a second one with "already started".
started=$(as_owner 60 db2start)
activate() {
	activated=$(as_owner 300 "db2 activate db $database")
	code=$?
}

# A connection that came first makes the database wait for its standby, and
# everything else with it. So the server, which serves nothing yet, is killed,
# and started with this as its first command.
start_alone() {
	activated=$(runuser -l "$owner" -c "export LC_ALL=C.UTF-8 LANG=C.UTF-8; timeout -k 5 60 db2_kill >/dev/null 2>&1; timeout -k 5 60 db2start >/dev/null 2>&1; timeout -k 5 200 db2 start hadr on db $database as primary by force" 2>&1)
	code=$?
	case "$activated" in
	*SQL1777N*) code=0 ;; # HADR is started already
	esac
}

role=
if [ "$alone" = yes ]; then
	case "$(as_owner 15 "db2pd -db $database -hadr")" in
	*'HADR_ROLE = '*) ;; # active, so that nothing is to be killed
	*)
		case "$(as_owner 15 "db2 get db cfg for $database")" in
		*'HADR database role'*'= PRIMARY'*) role=PRIMARY ;;
		esac
		;;
	esac
fi
if [ "$role" = PRIMARY ]; then start_alone; else activate; fi
section outcome
if [ "$code" -lt 4 ]; then printf 'started\n'; else printf 'failed\n'; fi
section reason
printf 'operation %s attempt %s\n' "$operation" "$attempt"
section db2start
printf '%s\n' "$started"
section activate
printf '%s\n' "$activated"
section end
[ "$code" -lt 4 ]
