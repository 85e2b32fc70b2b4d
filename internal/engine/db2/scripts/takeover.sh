# Promotes the standby on this node, at most once per operation, step and
# attempt, with the form of TAKEOVER HADR that its document stands for (R19).
#
# Every exit prints a report; the report of the first run is kept and answers
# every later one (R21).

state="${HADR_ROOT:-}/var/lib/hadr/$group"
claim="$state/commands/$operation.$step.$attempt"
role=
before=
after=
reply=
code=

section() { printf '=== hadr %s\n' "$1"; }

report() {
	section outcome
	printf '%s\n' "$1"
	section reason
	printf '%s\n' "$2"
	section exit
	printf '%s\n' "$code"
	section takeover
	printf '%s\n' "$reply"
	section before
	printf '%s\n' "$before"
	section after
	printf '%s\n' "$after"
	section end
}

# finish keeps the report, prints it and ends.
finish() {
	if report "$1" "$2" >"$claim/result.tmp"; then
		mv "$claim/result.tmp" "$claim/result"
	fi
	report "$1" "$2"
	[ "$1" = primary ]
	exit $?
}

# refuse ends before this run is recorded.
refuse() {
	report refused "$1"
	exit 1
}

as_owner() {
	runuser -l "$owner" -c "LC_ALL=C.UTF-8 LANG=C.UTF-8 timeout -k 5 $1 $2" 2>&1
}

# read_role sets hadr and role; an empty role is not known.
read_role() {
	role=
	for try in 1 2 3; do
		hadr=$(as_owner 15 "db2pd -db $database -hadr")
		case "$hadr" in
		*'Changing data structure'*)
			sleep 1
			continue
			;;
		*'HADR_ROLE = PRIMARY'*) role=PRIMARY ;;
		*'HADR_ROLE = STANDBY'*) role=STANDBY ;;
		esac
		break
	done
}

holds_vip() {
	addresses=$(ip addr show)
	case "$addresses" in
	*" $vip/"*) return 0 ;;
	esac
	return 1
}

in_time() {
	now=$(date +%s)
	[ "$now" -lt "$deadline" ]
}

keep() {
	printf '%s\n' "$2" >"$state/$1.tmp" && mv "$state/$1.tmp" "$state/$1"
}

mkdir -p "$state/commands" || refuse "directory $state/commands can't be made"

# R12: a node belongs to one state table.
if [ -f "$state/table" ]; then
	table=$(cat "$state/table")
	[ "$table" = "$table_arn" ] || refuse "this node belongs to state table $table, not to $table_arn: remove $state/table if that one is gone"
else
	keep table "$table_arn" || refuse "file $state/table can't be written"
fi

# R21: who makes the directory is the first; it also records the intent.
if ! mkdir "$claim" 2>/dev/null; then
	[ -d "$claim" ] || refuse "directory $claim can't be made"
	while [ ! -f "$claim/result" ] && in_time; do
		sleep 1
	done
	if [ -f "$claim/result" ]; then
		cat "$claim/result"
		exit 0
	fi
	read_role
	after=$hadr
	report unknown "an earlier run of $operation.$step.$attempt left no result"
	exit 1
fi
printf 'epoch %s deadline %s\n' "$epoch" "$deadline" >"$claim/intent"

# R21: never below the highest epoch that this node has seen.
highest=0
if [ -f "$state/epoch" ]; then
	highest=$(cat "$state/epoch")
fi
case "$highest" in
'' | *[!0-9]*) finish refused "file $state/epoch is damaged: it must hold a number" ;;
esac
[ "$epoch" -ge "$highest" ] || finish refused "epoch $epoch is over: this node has seen epoch $highest"
keep epoch "$epoch" || finish refused "file $state/epoch can't be written"

in_time || finish refused "the deadline $deadline has passed: the clock of this node reads $now"

# R25: the address is here before any client can be led here. On the loopback
# interface it answers for every interface, whatever its name, and is gone
# after a reboot.
bound=
if [ "$vip" != none ] && ! holds_vip; then
	ip addr add "$vip/32" dev lo || finish refused "address $vip can't be bound"
	bound=yes
fi
unbind() {
	if [ -n "$bound" ]; then ip addr del "$vip/32" dev lo; fi
}

read_role
before=$hadr
case "$role" in
PRIMARY)
	after=$hadr
	finish primary "the database was primary already"
	;;
STANDBY) ;;
*)
	unbind
	finish refused "the role of database $database can't be read"
	;;
esac
if ! in_time; then
	unbind
	finish refused "the deadline $deadline has passed: the clock of this node reads $now"
fi

# A takeover replays its log first and must not be killed early; so its limit
# is far above what it takes. Without -o the background process of the command
# line processor would keep the lock.
keep takeover "$now" # tells a status command that the role may change at any moment
reply=$(flock -o -n -E 75 "$state/takeover.lock" runuser -l "$owner" -c "LC_ALL=C.UTF-8 LANG=C.UTF-8 timeout -k 30 900 db2 takeover hadr on db $database $form" 2>&1)
code=$?
if [ "$code" -eq 75 ]; then
	finish unknown "another takeover is running on this node"
fi
keep takeover 0

read_role
after=$hadr
case "$role.$code" in
PRIMARY.*) finish primary "" ;;
STANDBY.4 | STANDBY.8)
	unbind
	finish standby "Db2 refused the takeover"
	;;
*) finish unknown "the role of database $database after the takeover is not certain" ;;
esac
