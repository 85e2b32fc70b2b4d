# Reads what this node says of itself. It changes nothing of the database.
#
# A standby forgets its primary as soon as the connection is gone, and just then
# it matters when it last heard of it, how much it lacked and whether the
# primary waited for it. So the last answers are kept in files.

mark() {
	section "$1"
	kept "$1"
}

mkdir -p "$state"
answer=$(sql 2 "$status_sql")
heard=$(date +%s.%N)
contact=$(printf '%s\n' "$answer" | sed -n 's/^contact //p')
if [ -n "$contact" ]; then
	keep contact "$contact"
	if [ "$peer_host" != none ]; then
		# A walsender answers SHOW, and asks for no database
		# (https://www.postgresql.org/docs/15/protocol-replication.html).
		names=$(as_owner 2 "$bin/psql -XAtq -d 'host=$peer_host port=$peer_port user=$replication_user sslmode=$sslmode replication=true connect_timeout=2' -c 'SHOW synchronous_standby_names' -c 'SHOW synchronous_commit'" </dev/null 2>/dev/null) &&
			keep synchronous "$(printf '%s\n%s' "$heard" "$names")"
	fi
fi

section host_time
date +%s.%N
section hostname
hostname
mark table
mark epoch
mark promoting
mark rewinding
mark stopped
mark contact
mark synchronous
section addresses
ip addr show
section database
printf '%s\n' "$answer" | sed '/^contact /d'
case "$answer" in
*'{"version"'*'}'*) ;;
*)
	section server
	if server_runs; then printf 'runs\n'; else printf 'down\n'; fi
	section on_disk
	if [ -f "$data/standby.signal" ]; then printf 'standby\n'; else printf 'primary\n'; fi
	section control
	run 5 "$bin/pg_controldata -D $data"
	;;
esac
section end
