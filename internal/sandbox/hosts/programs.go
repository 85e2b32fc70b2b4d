package hosts

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/db2"
)

// programs are the commands that every machine has in its bin directory, on
// both executors. What else a script may call, with processes, is in /usr/bin;
// in process, see tools.
var programs map[string]CommandFunc

func init() { // the programs call each other
	programs = map[string]CommandFunc{
		"db2": func(ctx context.Context, c *Call) int { return db2.CLP(ctx, c.db2(), c.Args[1:]) },
		"db2pd": func(ctx context.Context, c *Call) int {
			return db2.PD(ctx, c.db2(), c.Args[1:])
		},
		"db2stop":   func(ctx context.Context, c *Call) int { return db2.Stop(ctx, c.db2()) },
		"db2start":  db2start,
		"db2sysc":   db2sysc,
		"db2_kill":  db2kill,
		"db2setup":  db2setup,
		"runuser":   runuser,
		"su":        runuser,
		"systemctl": systemctl,
		"date":      date,
		"sleep":     sleep,
		"timeout":   timeout,
		"flock":     flock,
		"ip":        ip,
		"nc":        nc,
		"hostname":  hostname,
	}
}

func (c *Call) db2() db2.Env {
	return db2.Env{Root: c.Host.Root(), Parent: c.Parent, Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr, Clock: c.Clock, Net: c.Host}
}

// complain prints a program's failure and returns exit code 1.
func (c *Call) complain(err error) int {
	fmt.Fprintf(c.Stderr, "%s: %v\n", filepath.Base(c.Args[0]), err)
	return 1
}

func db2start(ctx context.Context, c *Call) int {
	return db2.Start(ctx, c.db2(), func() error { return c.Host.Spawn(ctx, "db2sysc") })
}

func db2sysc(ctx context.Context, c *Call) int {
	l, err := db2.FindLayout(c.Host.Root())
	if err == nil {
		err = db2.Serve(ctx, l, c.Clock, c.Host)
	}
	if err != nil {
		return c.complain(err)
	}
	return 0
}

// db2kill ends the instance without writing anything.
func db2kill(ctx context.Context, c *Call) int {
	if _, err := c.Host.Kill(ctx, "db2sysc"); err != nil {
		return c.complain(err)
	}
	fmt.Fprintln(c.Stdout, "ipclean: Removing DB2 engine and client's IPC resources.")
	return 0
}

// db2setup writes the disk of one side of a pair: what installing, restoring
// and configuring a real one come to. User data call it.
func db2setup(_ context.Context, c *Call) int {
	fs := flag.NewFlagSet("db2setup", flag.ContinueOnError)
	fs.SetOutput(c.Stderr)
	var p db2.Pair
	role := fs.String("role", "primary", "primary or standby")
	mode := fs.String("syncmode", string(db2.NearSync), "SYNC, NEARSYNC, ASYNC or SUPERASYNC")
	here := db2.Side{Root: c.Host.Root()}
	there := db2.Side{}
	fs.StringVar(&here.IP, "ip", "", "own private address")
	fs.StringVar(&there.IP, "peer-ip", "", "private address of the other side")
	fs.StringVar(&here.Node, "node", "a", "own row of HAPROBE.BEAT")
	fs.StringVar(&there.Node, "peer-node", "b", "row of the other side")
	fs.StringVar(&p.Database, "database", "SAMPLE", "name of the database")
	fs.StringVar(&p.Owner, "instance", "db2inst1", "instance owner")
	fs.DurationVar(&p.PeerWindow, "peer-window", 0, "HADR_PEER_WINDOW")
	fs.DurationVar(&p.Timeout, "timeout", 120*time.Second, "HADR_TIMEOUT")
	fs.StringVar(&p.Locale, "locale", "", "locale of the instance owner")
	fs.StringVar((*string)(&p.Version), "version", string(db2.V115), "release of Db2 to print as: 10.5, 11.1, 11.5 or 12.1")
	fs.BoolVar(&p.ReadsOnStandby, "reads-on-standby", false, "DB2_HADR_ROS")
	if err := fs.Parse(c.Args[1:]); err != nil {
		return 2
	}
	here.Hostname, there.Hostname = Hostname(here.IP), Hostname(there.IP)
	p.SyncMode = db2.SyncMode(*mode)
	if err := p.CreateSide(db2.Role(strings.ToUpper(*role)), here, there); err != nil {
		return c.complain(err)
	}
	return 0
}

// runuser runs a command as another user: "runuser -l user -c command", the same
// with --session-command=command, or "runuser -u user -- command". In the sandbox
// only environment and home change.
func runuser(ctx context.Context, c *Call) int {
	user, script := "", ""
	args := c.Args[1:]
	for len(args) > 0 {
		switch a := args[0]; {
		case strings.HasPrefix(a, "--session-command="):
			script, args = strings.TrimPrefix(a, "--session-command="), args[1:]
			continue
		case (a == "-c" || a == "--command") && len(args) > 1:
			script, args = args[1], args[2:]
			continue
		case a == "--":
			args = args[1:]
			goto run
		case a == "-u" || a == "-" || a == "-l" || a == "--login" || a == "-s" && len(args) > 1:
			if a == "-s" {
				args = args[1:]
			}
		case strings.HasPrefix(a, "-"):
		case user == "":
			user = a
		default:
			goto run
		}
		args = args[1:]
	}
run:
	if user == "" {
		return c.complain(fmt.Errorf("no user"))
	}
	home := filepath.Join(c.Host.Root(), "home", user)
	if _, err := os.Stat(home); err != nil {
		return c.complain(fmt.Errorf("user %s does not exist", user))
	}
	next := *c
	next.Env = c.setenv("USER="+user, "LOGNAME="+user, "HOME="+home, "DB2INSTANCE="+user)
	next.Dir = home
	next.Args = args
	if script != "" {
		next.Args = []string{"sh", "-c", script}
	}
	if len(next.Args) == 0 {
		return c.complain(fmt.Errorf("no command"))
	}
	return c.Host.Exec(ctx, &next)
}

func systemctl(ctx context.Context, c *Call) int {
	var words []string
	quiet, now := false, false
	for _, a := range c.Args[1:] {
		switch {
		case a == "--quiet" || a == "-q":
			quiet = true
		case a == "--now":
			now = true
		case !strings.HasPrefix(a, "-"):
			words = append(words, a)
		}
	}
	if len(words) == 0 {
		return c.complain(fmt.Errorf("no command"))
	}
	units := words[1:]
	if len(units) == 0 {
		units = []string{""}
	}
	code := 0
	for _, u := range units {
		text, rc := c.Host.Unit(ctx, words[0], u)
		if now && rc == 0 {
			verb := map[string]string{"enable": "start", "disable": "stop"}[words[0]]
			text, rc = c.Host.Unit(ctx, verb, u)
		}
		if !quiet {
			fmt.Fprint(c.Stdout, text)
		}
		code = max(code, rc)
	}
	return code
}

// date prints the machine's time, in UTC: "date [-u] [+format]".
func date(_ context.Context, c *Call) int {
	now := c.Clock.Now().UTC()
	format := "%a %b %e %H:%M:%S UTC %Y"
	for _, a := range c.Args[1:] {
		if f, ok := strings.CutPrefix(a, "+"); ok {
			format = f
		} else if v, ok := strings.CutPrefix(a, "-d@"); ok {
			if n, err := strconv.ParseInt(v, 10, 64); err == nil {
				now = time.Unix(n, 0).UTC()
			}
		}
	}
	fmt.Fprintln(c.Stdout, strftime(now, format))
	return 0
}

var conversions = map[byte]string{
	'Y': "2006", 'm': "01", 'd': "02", 'H': "15", 'M': "04", 'S': "05", 'F': "2006-01-02", 'T': "15:04:05",
	'a': "Mon", 'b': "Jan", 'e': "_2", 'y': "06", 'Z': "MST", 'z': "-0700", 'j': "002",
}

func strftime(t time.Time, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		digits := 9
		if format[i] == '3' && i+1 < len(format) && format[i+1] == 'N' {
			digits = 3
			i++
		}
		switch layout, known := conversions[format[i]]; {
		case known:
			b.WriteString(t.Format(layout))
		case format[i] == 's':
			b.WriteString(strconv.FormatInt(t.Unix(), 10))
		case format[i] == 'N':
			b.WriteString(fmt.Sprintf("%09d", t.Nanosecond())[:digits])
		case format[i] == '%':
			b.WriteByte('%')
		}
	}
	return b.String()
}

func sleep(ctx context.Context, c *Call) int {
	for _, a := range c.Args[1:] {
		d, err := duration(a)
		if err != nil {
			return c.complain(err)
		}
		if c.Clock.Sleep(ctx, d) != nil {
			return 137
		}
	}
	return 0
}

// duration reads "5", "0.2", "5s", "2m", "1h".
func duration(s string) (time.Duration, error) {
	unit := time.Second
	for suffix, u := range map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour} {
		if v, ok := strings.CutSuffix(s, suffix); ok {
			s, unit = v, u
			break
		}
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("invalid time interval '%s'", s)
	}
	return time.Duration(n * float64(unit)), nil
}

// timeout bounds a command: "timeout [-k duration] [-s signal] duration
// command". It ends with 124 if the time ran out.
func timeout(ctx context.Context, c *Call) int {
	args := c.Args[1:]
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if (args[0] == "-k" || args[0] == "-s") && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	if len(args) < 2 {
		fmt.Fprintln(c.Stderr, "timeout: missing operand")
		return 125
	}
	d, err := duration(args[0])
	if err != nil {
		c.complain(err)
		return 125
	}
	bounded, cancel := clock.WithTimeout(ctx, c.Clock, d)
	defer cancel()
	next := *c
	next.Args = args[1:]
	code := c.Host.Exec(bounded, &next)
	if ctx.Err() == nil && bounded.Err() != nil {
		return 124
	}
	return code
}

// ip handles addresses: "ip [-4] [-o] addr add|del ADDRESS[/32] dev DEV" and
// "ip addr show".
func ip(ctx context.Context, c *Call) int {
	var words []string
	for _, a := range c.Args[1:] {
		if !strings.HasPrefix(a, "-") {
			words = append(words, a)
		}
	}
	if len(words) == 0 || !strings.HasPrefix("address", words[0]) {
		return c.complain(fmt.Errorf("only addresses can be handled here"))
	}
	verb := "show"
	if len(words) > 1 {
		verb = words[1]
	}
	switch verb {
	case "add", "replace", "del", "delete":
		if len(words) < 3 {
			return c.complain(fmt.Errorf("no address"))
		}
		address, _, _ := strings.Cut(words[2], "/")
		err := c.Host.Address(ctx, address, verb == "add" || verb == "replace")
		if err != nil && (verb != "replace" || !strings.Contains(err.Error(), "File exists")) {
			fmt.Fprintln(c.Stderr, err)
			return 2
		}
		return 0
	case "show", "list", "ls":
		b, err := os.ReadFile(filepath.Join(c.Host.Root(), addressFile))
		if err != nil && !os.IsNotExist(err) {
			return c.complain(err)
		}
		for _, a := range strings.Fields(string(b)) {
			fmt.Fprintf(c.Stdout, "2: eth0    inet %s/32 scope global eth0\n", a)
		}
		return 0
	}
	return c.complain(fmt.Errorf("address: unknown command %s", verb))
}

// nc tries a TCP connection: "nc -z [-w seconds] host port".
func nc(ctx context.Context, c *Call) int {
	wait := time.Minute
	var words []string
	for args := c.Args[1:]; len(args) > 0; args = args[1:] {
		switch {
		case strings.HasPrefix(args[0], "-") && strings.HasSuffix(args[0], "w") && len(args) > 1:
			if d, err := duration(args[1]); err == nil {
				wait = d
			}
			args = args[1:]
		case !strings.HasPrefix(args[0], "-"):
			words = append(words, args[0])
		}
	}
	if len(words) != 2 {
		return c.complain(fmt.Errorf("want a host and a port"))
	}
	port, err := strconv.Atoi(words[1])
	if err != nil || net.ParseIP(words[0]) == nil {
		return c.complain(fmt.Errorf("%s %s: not an address and a port", words[0], words[1]))
	}
	bounded, cancel := clock.WithTimeout(ctx, c.Clock, wait)
	defer cancel()
	conn, err := c.Host.Dial(bounded, words[0], port)
	if err != nil {
		return c.complain(err)
	}
	_ = conn.Close()
	return 0
}

func hostname(_ context.Context, c *Call) int {
	b, err := os.ReadFile(filepath.Join(c.Host.Root(), "etc/hostname"))
	if err != nil {
		return c.complain(err)
	}
	fmt.Fprint(c.Stdout, string(b))
	return 0
}
