# Reads what this node says of itself. It changes nothing.
#
# The role comes from db2pd, which needs no connection: a connection would
# activate an inactive primary. The clock is read after db2pd, because time
# that has passed since shortens the peer window.

state="${HADR_ROOT:-}/var/lib/hadr/$group"

section() { printf '=== hadr %s\n' "$1"; }

as_owner() {
	runuser -l "$owner" -c "LC_ALL=C.UTF-8 LANG=C.UTF-8 timeout -k 1 $1 $2" 2>&1
}

mark() {
	section "$1"
	if [ -f "$state/$1" ]; then cat "$state/$1"; fi
}

ask() {
	hadr=$(as_owner 5 "db2pd -db $database -hadr")
	code=$?
}

tries=1
ask
while [ "$tries" -lt 3 ]; do
	case "$hadr" in
	*'Changing data structure'*) ;;
	*) break ;;
	esac
	sleep 1
	tries=$((tries + 1))
	ask
done

section host_time
date +%s.%N
section hostname
hostname
mark table
mark epoch
mark takeover
mark stopped
section addresses
ip addr show
section db2pd
printf '%s\n' "$hadr"
section db2pd_code
printf '%s\n' "$code"
case "$hadr" in
*'not activated on database member'*)
	# The configuration keeps the role that a restart will use.
	section db_cfg
	as_owner 5 "db2 get db cfg for $database"
	;;
esac
section end
