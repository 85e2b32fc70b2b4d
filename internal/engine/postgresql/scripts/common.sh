# How the scripts reach the PostgreSQL server of this node: as its owner, over
# its Unix socket, and never without a limit.

# A host of the sandbox is a directory, and what is on its disk lies below it.
root="${HADR_ROOT:-}"
data="$root$data"
socket="$root$socket"
log="${data%/}.log"
options="-p $port"
if [ "$config" != none ]; then options="$options -c config_file=$root$config"; fi

# as_owner runs a command for at most so many seconds. It closes the lock's
# descriptor, which a server that it starts would keep.
as_owner() {
	runuser -l "$owner" -c "LC_ALL=C.UTF-8 LANG=C.UTF-8 timeout -k 5 $1 $2" 9>&-
}

run() { as_owner "$1" "$2" </dev/null 2>&1; }

sql() {
	printf '%s\n' "$2" | as_owner "$1" "$bin/psql -XAtq -v ON_ERROR_STOP=1 -h $socket -p $port -d postgres" 2>&1
}

# read_role sets role; an empty one is not known.
read_role() {
	role=
	case "$(sql 5 'SELECT pg_is_in_recovery()')" in
	t) role=STANDBY ;;
	f) role=PRIMARY ;;
	esac
}

# server_runs reports whether the server's process lives, hung or not.
server_runs() { run 5 "$bin/pg_ctl status -D $data" >/dev/null; }

start_server() {
	run $(($1 + 10)) "$bin/pg_ctl start -w -t $1 -D $data -l $log -o '$options'"
}

stop_server() {
	run $(($2 + 10)) "$bin/pg_ctl stop -w -t $2 -m $1 -D $data"
}

# control prints one line of pg_controldata.
control() { run 5 "$bin/pg_controldata -D $data" | sed -n "s/^$1: *//p"; }

holds_vip() {
	addresses=$(ip addr show)
	case "$addresses" in
	*" $vip/"*) return 0 ;;
	esac
	return 1
}

# On the loopback interface the address answers for every interface, whatever
# its name, and is gone after a reboot.
hold_vip() {
	bound=
	if [ "$vip" != none ] && ! holds_vip; then
		ip addr add "$vip/32" dev lo || return 1
		bound=yes
	fi
}

unbind() { if [ -n "$bound" ]; then ip addr del "$vip/32" dev lo; fi; }

drop_vip() {
	if [ "$vip" = none ] || ! holds_vip; then return 0; fi
	ip addr del "$vip/32" dev lo
}

# follow makes the stopped server of this node a standby of the other one from
# its next start on. The last setting in postgresql.auto.conf counts.
follow() {
	setting="primary_conninfo = 'host=$peer_host port=$peer_port user=$replication_user sslmode=$sslmode application_name=$node'"
	sed '/^primary_conninfo/d; /^synchronous_standby_names/d; /^default_transaction_read_only/d' "$data/postgresql.auto.conf" >"$state/auto.conf" || return 1
	printf '%s\n' "$setting" >>"$state/auto.conf"
	cat "$state/auto.conf" >"$data/postgresql.auto.conf" && run 5 "touch $data/standby.signal"
}
