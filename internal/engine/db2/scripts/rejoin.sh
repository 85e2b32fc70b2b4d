# Brings the database of this node back as standby of the other one.
#
# Nothing connects to it before: a connection would activate an old primary and
# spoil its log (APAR IT10602). So the address is taken away first (R28).

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

# What a person has to change on this node first, and how: to ask again is of no
# use before.
not_ready() {
	section outcome
	printf 'not_ready\n'
	section reason
	printf '%s\n' "$1"
	section next
	printf '%s\n' "$2"
	section end
	exit 1
}

mkdir -p "$state" || refuse "directory $state can't be made"

# R12: a node belongs to one state table.
if [ -f "$state/table" ]; then
	table=$(cat "$state/table")
	[ "$table" = "$table_arn" ] || not_ready "this node belongs to state table $table, not to $table_arn" "if that table is gone: rm $state/table"
else
	printf '%s\n' "$table_arn" >"$state/table"
fi

# R21: never below the highest epoch that this node has seen, and never late.
in_epoch() {
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
}
in_epoch
printf '%s\n' "$epoch" >"$state/epoch.tmp" && mv "$state/epoch.tmp" "$state/epoch" || refuse "file $state/epoch can't be written"

# An instance that starts with its host is there for the first client that finds
# it, before anything has made it a standby (R28).
# https://www.ibm.com/docs/en/db2/11.5.x?topic=commands-db2iauto-auto-start-instance
case "$(as_owner 5 'db2set DB2AUTOSTART')" in
YES | yes) not_ready "the instance of $owner starts by itself when this host starts (DB2AUTOSTART=YES)" "db2iauto -off $owner (as root, in the bin directory of Db2)" ;;
esac

for try in 1 2 3; do
	hadr=$(as_owner 15 "db2pd -db $database -hadr")
	case "$hadr" in
	*'Changing data structure'*) sleep 1 ;;
	*) break ;;
	esac
done
kill=
case "$hadr" in
*'Changing data structure'*) refuse "the role of database $database is just changing" ;;
*'HADR_ROLE = STANDBY'*) ;;
*) kill='timeout -k 5 60 db2_kill >/dev/null 2>&1;' ;;
esac

# A takeover writes its epoch before it makes this node primary. So what was
# read is the old primary only if no later epoch has come up since, and none
# does from here on: a takeover takes the same lock.
in_epoch
alone() { flock -o -n -E 75 "$state/takeover.lock" "$@"; }

if [ "$vip" != none ]; then
	addresses=$(ip addr show)
	case "$addresses" in
	*" $vip/"*) alone ip addr del "$vip/32" dev lo || refuse "address $vip can't be taken away" ;;
	esac
fi

# A database that comes up by itself is an old primary that waits for a standby.
# It must not be deactivated, which would change its log (APAR IC66646): it is
# killed, and started as standby from a server that serves nothing.
reply=$(alone runuser -l "$owner" -c "export LC_ALL=C.UTF-8 LANG=C.UTF-8; $kill timeout -k 5 60 db2start >/dev/null 2>&1; timeout -k 5 120 db2 start hadr on db $database as standby" 2>&1)
code=$?
if [ "$code" -eq 75 ]; then refuse "another command works on the database of this node"; fi
section outcome
case "$code.$reply" in
[0-3].* | *SQL1777N*) printf 'started\n' ;;
*) printf 'failed\n' ;;
esac
section reason
printf 'operation %s attempt %s\n' "$operation" "$attempt"
section rejoin
printf '%s\n' "$reply"
section end
case "$code.$reply" in
[0-3].* | *SQL1777N*) exit 0 ;;
esac
exit 1
