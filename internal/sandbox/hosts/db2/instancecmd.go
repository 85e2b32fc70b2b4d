package db2

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// PD is the command db2pd. Its exit code is 0 whatever it prints: scripts go
// by the text.
func PD(ctx context.Context, env Env, args []string) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	database, all, hadr := "", false, false
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "-db", "-d", "-database":
			if i+1 < len(args) {
				i++
				database = strings.ToUpper(args[i])
			}
		case "-alldbs":
			all = true
		case "-hadr":
			hadr = true
		}
	}
	conn, err := attach(ctx, env.Net)
	if ctx.Err() != nil {
		return 0 // killed
	}
	if err != nil {
		fmt.Fprint(env.Stdout, instanceDownText)
		return 0
	}
	defer conn.close()
	if !hadr {
		fmt.Fprintf(env.Stdout, "\nDatabase Member 0 -- Active -- Date %s\n", env.Clock.Now().Format(env.instance().edition().date))
		return 0
	}
	names := []string{database}
	if l, err := FindLayout(env.Root); err == nil && all {
		if found, err := l.databases(); err == nil {
			names = found
		}
	}
	for _, name := range names {
		r := conn.ask(request{Op: "hadr", Database: name})
		if r.Code != codeOK {
			r.Text = fmt.Sprintf(notActiveText, name)
		}
		fmt.Fprint(env.Stdout, r.Text)
	}
	return 0
}

// Stop is the command db2stop: it deactivates every database, which writes to
// the log of a primary.
func Stop(ctx context.Context, env Env) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn, err := attach(ctx, env.Net)
	stamp := env.stamp()
	if err != nil {
		fmt.Fprintf(env.Stdout, "%s     0   0   SQL1032N  No start database manager command was issued.\n%s\n", stamp, msgNotStarted.Text)
		return codeError
	}
	defer conn.close()
	if r := conn.ask(request{Op: "stop"}); r.Code != codeOK {
		fmt.Fprintln(env.Stdout, r.Text)
		return r.Code
	}
	fmt.Fprintf(env.Stdout, "%s     0   0   SQL1064N  DB2STOP processing was successful.\nSQL1064N  DB2STOP processing was successful.\n", stamp)
	return codeOK
}

// Start is the command db2start. spawn starts db2sysc in the background.
func Start(ctx context.Context, env Env, spawn func() error) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	say := func(text string) {
		fmt.Fprintf(env.Stdout, "%s     0   0   %s\n%s\n", env.stamp(), text, text)
	}
	if conn, err := attach(ctx, env.Net); err == nil {
		conn.close()
		say("SQL1026N  The database manager is already active.")
		return codeOK
	}
	if err := spawn(); err != nil {
		fmt.Fprintln(env.Stderr, err)
		return codeCLP
	}
	for range 100 {
		if env.Clock.Sleep(ctx, 100*time.Millisecond) != nil {
			break
		}
		if conn, err := attach(ctx, env.Net); err == nil {
			r := conn.ask(request{Op: "ping"})
			conn.close()
			if r.Code == codeOK {
				say("SQL1063N  DB2START processing was successful.")
				return codeOK
			}
		}
	}
	fmt.Fprintln(env.Stdout, "SQL1042C  An unexpected system error occurred.  SQLSTATE=58004")
	return codeError
}

// instance is the description of the instance, if there is one.
func (e Env) instance() InstanceConfig {
	l, err := FindLayout(e.Root)
	if err != nil {
		return InstanceConfig{}
	}
	c, err := l.Instance()
	if err != nil {
		return InstanceConfig{}
	}
	return c
}

// stamp is the time in front of each member's line.
func (e Env) stamp() string { return e.Clock.Now().Format(e.instance().dates()) }
