# Opens a TCP connection to the endpoint, as a client in this subnet would.

if nc -z -w 3 "$vip" "$port"; then
	printf 'connected to %s port %s\n' "$vip" "$port"
	exit 0
fi
printf 'no connection to %s port %s\n' "$vip" "$port"
exit 1
