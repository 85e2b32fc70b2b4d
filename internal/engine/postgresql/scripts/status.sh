# Reads what this node says of itself. It changes nothing of the database.
#
# A standby forgets its primary as soon as the connection is gone, and just then
# it matters when it last heard of it, how much it lacked and whether the
# primary waited for it. So the last answers are kept in files.

mark() {
	section "$1"
	kept "$1"
}

# asked_lately reports whether the primary said a moment ago that commits wait.
# It is asked for a new connection, and a change of that has to let the window
# pass before it counts.
asked_lately() {
	[ -f "$state/synchronous" ] || return 1
	{ read -r asked; read -r names; } <"$state/synchronous"
	[ -n "$names" ] || return 1
	case "${asked%.*}" in
	'' | *[!0-9]*) return 1 ;;
	esac
	ago=$((${now%.*} - ${asked%.*}))
	[ "$ago" -ge 0 ] && [ "$ago" -lt 10 ]
}

[ -d "$state" ] || mkdir -p "$state"
answer=$(sql 2 "$status_sql")
now=$(date +%s.%N)
unkept=
contact=$(printf '%s\n' "$answer" | sed -n 's/^contact //p')
if [ -n "$contact" ]; then
	unkept=$(keep contact "$contact" 2>&1)
	if [ "$peer_host" != none ] && ! asked_lately; then
		heard=$now
		# A walsender answers SHOW, and asks for no database
		# (https://www.postgresql.org/docs/15/protocol-replication.html).
		names=$(as_owner 2 "$bin/psql -XAtq -d 'host=$peer_host port=$peer_port user=$replication_user sslmode=$sslmode replication=true connect_timeout=2' -c 'SHOW synchronous_standby_names' -c 'SHOW synchronous_commit'" </dev/null 2>/dev/null) &&
			unkept=$unkept$(keep synchronous "$(printf '%s\n%s' "$heard" "$names")" 2>&1)
		now=$(date +%s.%N)
	fi
fi

section host_time
printf '%s\n' "$now"
mark table
mark epoch
mark promoting
mark rewinding
mark stopped
mark contact
mark synchronous
section unkept # why the last two can't be
printf '%s\n' "$unkept"
section database
printf '%s\n' "$answer" | sed '/^contact /d'
case "$answer" in
*'{"version"'*'}'*) ;;
*)
	section server
	if server_runs; then
		case "$(sed -n 8p "$data/postmaster.pid")" in # its status, such as "ready"
		starting*) printf 'starts\n' ;;
		*) printf 'runs\n' ;;
		esac
	else
		printf 'down\n'
	fi
	section on_disk
	if [ -f "$data/standby.signal" ]; then printf 'standby\n'; else printf 'primary\n'; fi
	;;
esac
section end
