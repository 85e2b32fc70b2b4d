# What the checks of every service use. Sourced.

want() { # WHAT EXPECTED ACTUAL
	if [ "$2" != "$3" ]; then
		echo "FAILED: $1: want '$2', got '$3'" >&2
		exit 1
	fi
	echo "ok: $1"
}

# refused checks the code of an error, as the client reads it.
refused() { # WHAT CODE COMMAND...
	what=$1 code=$2
	shift 2
	if said=$("$@" 2>&1); then
		want "$what" "$code" "no error: $said"
	fi
	want "$what" "$code" "$(echo "$said" | sed -n 's/^.*An error occurred (\([A-Za-z0-9.]*\)) when calling.*$/\1/p')"
}

# all counts what a listing finds when it turns the pages.
all() { # COMMAND... (with a --query that makes a list)
	"$@" --output json | grep -c '^    "'
}

# first gets a page of one and prints how much is on it and whether there is
# more.
first() { # LIST COMMAND...
	list=$1
	shift
	"$@" --max-items 1 --output json --query "[length($list), type(NextToken)]" | tr -d ' \n'
}
one_and_more='[1,"string"]'
