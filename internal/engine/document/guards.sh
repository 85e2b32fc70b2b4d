# What a node keeps for itself, whatever it is sent: the state table that it
# belongs to (R12), the highest epoch it has seen, one command at a time, the
# first result of every command, and no command after its deadline (R21).

state="${HADR_ROOT:-}/var/lib/hadr/$group"
claim=

section() { printf '=== hadr %s\n' "$1"; }

# keep writes a file as a whole, whoever else writes it.
keep() { printf '%s\n' "$2" >"$state/$1.$$" && mv "$state/$1.$$" "$state/$1"; }

kept() { if [ -f "$state/$1" ]; then cat "$state/$1"; fi; }

# details prints further sections; a document may define its own.
details() { :; }

report() {
	section outcome
	printf '%s\n' "$1"
	section reason
	printf '%s\n' "$2"
	details
	section end
}

good() {
	case "$1" in
	primary | started | stopped) return 0 ;;
	esac
	return 1
}

# finish keeps the report as this command's only one, prints it and ends.
finish() {
	if [ -n "$claim" ] && report "$1" "$2" >"$claim/result.tmp"; then
		mv "$claim/result.tmp" "$claim/result"
	fi
	report "$1" "$2"
	good "$1"
	exit $?
}

in_time() {
	now=$(date +%s)
	[ "$now" -lt "$deadline" ]
}

own_table() {
	if [ -f "$state/table" ]; then
		table=$(cat "$state/table")
		[ "$table" = "$table_arn" ] || finish refused "this node belongs to state table $table, not to $table_arn: remove $state/table if that one is gone"
	else
		keep table "$table_arn" || finish refused "file $state/table can't be written"
	fi
}

# first lets the first run of a command pass. A later one gets the first one's
# result, for which it waits until the deadline.
first() {
	run="$state/commands/$operation.$step.$attempt"
	if mkdir "$run" 2>/dev/null; then
		claim=$run
		printf 'epoch %s deadline %s\n' "$epoch" "$deadline" >"$claim/intent"
		return
	fi
	[ -d "$run" ] || finish refused "directory $run can't be made"
	while [ ! -f "$run/result" ] && in_time; do
		sleep 1
	done
	[ -f "$run/result" ] || finish unknown "an earlier run of $operation.$step.$attempt left no result"
	cat "$run/result"
	good "$(sed -n 2p "$run/result")"
	exit $?
}

in_epoch() {
	highest=$(kept epoch)
	case "${highest:=0}" in
	*[!0-9]*) finish refused "file $state/epoch is damaged: it must hold a number" ;;
	esac
	[ "$epoch" -ge "$highest" ] || finish refused "epoch $epoch is over: this node has seen epoch $highest"
}

# begin returns once for each command, with the node's lock held: file
# descriptor 9, which no program that outlives the document may inherit.
begin() {
	mkdir -p "$state/commands" || finish refused "directory $state/commands can't be made"
	own_table
	first
	in_epoch
	keep epoch "$epoch" || finish refused "file $state/epoch can't be written"
	in_time || finish refused "the deadline $deadline has passed: the clock of this node reads $now"
	exec 9>"$state/lock"
	flock -n 9 || finish refused "another command works on the database of this node"
}
