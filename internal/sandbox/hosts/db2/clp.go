package db2

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

// Env is what a command of the instance runs in.
type Env struct {
	Root   string
	Parent string // the shell that called: db2 keeps its connection between commands of one shell
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Clock  clock.Clock
	Net    Network
}

// client is a connection of a command to db2sysc.
type client struct {
	conn net.Conn
	enc  *json.Encoder
	dec  *json.Decoder
}

// attach connects to db2sysc, or fails at once if it does not run.
func attach(ctx context.Context, n Network) (*client, error) {
	conn, err := n.Dial(ctx, loopback, ipcPort)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	return &client{conn: conn, enc: json.NewEncoder(conn), dec: json.NewDecoder(conn)}, nil
}

func (c *client) ask(q request) reply {
	if c == nil {
		return msgNotStarted
	}
	if err := c.enc.Encode(q); err != nil {
		return msgGone
	}
	var r reply
	if err := c.dec.Decode(&r); err != nil {
		return msgGone
	}
	return r
}

func (c *client) close() {
	if c != nil {
		_ = c.conn.Close()
	}
}

// processor is one run of the command line processor.
type processor struct {
	ctx    context.Context // a processor that was killed prints nothing more
	env    Env
	layout Layout
	conn   *client

	terminated bool // statements end with a semicolon (-t)
	echo       bool // -v
	stop       bool // -s
	bare       bool // -x
	manual     bool // +c
	file       string
}

// CLP is the command db2. It returns the exit code.
func CLP(ctx context.Context, env Env, args []string) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	layout, err := FindLayout(env.Root)
	if err != nil {
		fmt.Fprintln(env.Stderr, err)
		return codeCLP
	}
	p := &processor{ctx: ctx, env: env, layout: layout}
	rest := p.options(args)
	p.conn, _ = attach(ctx, env.Net)
	defer p.conn.close()
	p.resume()
	switch {
	case p.file != "" && p.file != "-" && p.file != "/dev/stdin":
		f, err := os.Open(p.file)
		if err != nil {
			fmt.Fprintf(env.Stdout, "DB21005E  An error occurred while accessing the file \"%s\".\n", p.file)
			return codeCLP
		}
		defer func() { _ = f.Close() }()
		return p.script(f)
	case len(rest) > 0:
		code, _ := p.run(strings.Join(rest, " "))
		return code
	}
	return p.script(env.Stdin)
}

// options reads the flags of db2: letters after "-" switch on, after "+" off.
// https://www.ibm.com/docs/en/db2/11.5.x?topic=clp-options
func (p *processor) options(args []string) []string {
	for len(args) > 0 && len(args[0]) > 1 && (args[0][0] == '-' || args[0][0] == '+') {
		on, letters := args[0][0] == '-', args[0][1:]
		args = args[1:]
		for i, c := range letters {
			switch c {
			case 't':
				p.terminated = on
			case 'v':
				p.echo = on
			case 's':
				p.stop = on
			case 'x':
				p.bare = on
			case 'c':
				p.manual = !on
			case 'f':
				p.file = letters[i+1:]
				if p.file == "" && len(args) > 0 {
					p.file, args = args[0], args[1:]
				}
				if !on {
					p.file = ""
				}
			}
			if c == 'f' || c == 'z' || c == 'r' || c == 'l' || c == 'd' {
				break
			}
		}
	}
	return args
}

// script runs statements from a file or from standard input, one answer after
// the other. The exit code is the bitwise OR of all.
func (p *processor) script(in io.Reader) int {
	code := 0
	next := p.lines(in)
	var pending strings.Builder
	for {
		line, err := next()
		if p.ctx.Err() != nil {
			return code
		}
		text := strings.TrimSpace(line)
		if !strings.HasPrefix(text, "--") {
			pending.WriteString(line)
		}
		whole := strings.TrimSpace(pending.String())
		complete := whole != "" && (!p.terminated || strings.HasSuffix(text, ";") || err != nil)
		if complete {
			pending.Reset()
			for _, statement := range p.split(whole) {
				answered, quit := p.run(statement)
				code |= answered
				if quit || (p.stop && answered >= codeError) {
					return code
				}
			}
		}
		if err != nil {
			return code
		}
	}
}

// run answers one statement.
func (p *processor) run(statement string) (code int, quit bool) {
	if p.echo {
		fmt.Fprintln(p.env.Stdout, statement)
	}
	answer, quit := p.command(statement)
	p.print(answer)
	if p.file != "" || p.echo {
		fmt.Fprintln(p.env.Stdout)
	}
	return answer.Code, quit
}

// lines reads line by line. A killed processor waits for no input.
func (p *processor) lines(in io.Reader) func() (string, error) {
	type read struct {
		line string
		err  error
	}
	reads := make(chan read)
	go func() {
		r := bufio.NewReader(in)
		for {
			line, err := r.ReadString('\n')
			select {
			case reads <- read{line, err}:
			case <-p.ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return func() (string, error) {
		select {
		case r := <-reads:
			return r.line, r.err
		case <-p.ctx.Done():
			return "", context.Cause(p.ctx)
		}
	}
}

func (p *processor) split(whole string) []string {
	if !p.terminated {
		return []string{whole}
	}
	var out []string
	for _, s := range strings.Split(whole, ";") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func (p *processor) print(r reply) {
	text := r.Text
	if p.bare && strings.Contains(text, "record(s) selected") {
		lines := strings.Split(strings.TrimSpace(text), "\n")
		text = lines[2]
	}
	if text != "" && p.ctx.Err() == nil {
		fmt.Fprintln(p.env.Stdout, text)
	}
}

// command runs one statement or command, and reports whether it was QUIT.
func (p *processor) command(text string) (reply, bool) {
	text = strings.TrimSuffix(strings.TrimSpace(text), ";")
	words := strings.Fields(text)
	if len(words) == 0 {
		return reply{}, false
	}
	upper := strings.Fields(strings.ToUpper(text))
	switch upper[0] {
	case "QUIT":
		return reply{}, true
	case "ECHO":
		return reply{Text: strings.TrimSpace(text[len("ECHO"):])}, false
	case "TERMINATE":
		p.conn.ask(request{Op: "terminate"})
		p.forget()
		return reply{Text: "DB20000I  The TERMINATE command completed successfully."}, false
	case "CONNECT":
		if len(upper) > 1 && upper[1] == "RESET" {
			p.forget()
			return p.conn.ask(request{Op: "reset"}), false
		}
		if len(upper) < 3 || upper[1] != "TO" {
			return msgCannotWrap, false
		}
		r := p.conn.ask(request{Op: "connect", Database: upper[2]})
		if r.Code == codeOK {
			p.remember(upper[2])
		}
		return r, false
	}
	if q, ok := administrative(words, upper); ok {
		return p.conn.ask(q), false
	}
	return p.conn.ask(request{Op: "sql", Text: text, Manual: p.manual}), false
}

// administrative recognizes the commands that are no SQL.
func administrative(words, upper []string) (request, bool) {
	isDB := func(w string) bool { return w == "DB" || w == "DATABASE" }
	at := func(i int) string {
		if i < len(upper) {
			return upper[i]
		}
		return ""
	}
	tail := func(i int) string { return strings.Join(upper[min(i, len(upper)):], " ") }
	switch {
	case (at(0) == "ACTIVATE" || at(0) == "DEACTIVATE") && isDB(at(1)):
		return request{Op: strings.ToLower(at(0)), Database: at(2)}, true
	case at(0) == "TAKEOVER" && at(1) == "HADR" && at(2) == "ON" && isDB(at(3)):
		v := Variant(tail(5))
		if v != Plain && v != ByForce && v != PeerWindowOnly {
			return request{Op: "bad", Database: at(4)}, true
		}
		return request{Op: "takeover", Database: at(4), Variant: v}, true
	case at(0) == "START" && at(1) == "HADR" && at(2) == "ON" && isDB(at(3)):
		q := request{Op: "start_hadr", Database: at(4)}
		switch tail(5) {
		case "AS STANDBY":
			q.Role = Standby
		case "AS PRIMARY":
			q.Role = Primary
		case "AS PRIMARY BY FORCE":
			q.Role, q.Force = Primary, true
		default:
			q.Op = "bad"
		}
		return q, true
	case at(0) == "STOP" && at(1) == "HADR" && at(2) == "ON" && isDB(at(3)):
		return request{Op: "stop_hadr", Database: at(4)}, true
	case at(0) == "GET" && isDB(at(1)) && strings.HasPrefix(at(2), "C") && at(3) == "FOR":
		return request{Op: "db_cfg", Database: at(4)}, true
	case at(0) == "UPDATE" && isDB(at(1)) && strings.HasPrefix(at(2), "C") && at(3) == "FOR" && at(5) == "USING":
		q := request{Op: "update_cfg", Database: at(4), Sets: map[string]string{}}
		for i := 6; i+1 < len(words); i += 2 {
			q.Sets[upper[i]] = words[i+1]
		}
		return q, true
	}
	return request{}, false
}

// The connection of db2 outlives the command: a background process per shell
// keeps it until TERMINATE. Here a file remembers the database.
func (p *processor) sessionFile() string {
	return filepath.Join(p.layout.sqllib(), "tmp", "db2bp."+p.env.Parent)
}

func (p *processor) remember(database string) {
	if p.env.Parent != "" && os.MkdirAll(filepath.Dir(p.sessionFile()), 0o755) == nil {
		_ = os.WriteFile(p.sessionFile(), []byte(database), 0o644)
	}
}

func (p *processor) forget() { _ = os.Remove(p.sessionFile()) }

func (p *processor) resume() {
	if p.env.Parent == "" || p.conn == nil {
		return
	}
	if b, err := os.ReadFile(p.sessionFile()); err == nil {
		p.conn.ask(request{Op: "connect", Database: string(b)})
	}
}
