package hosts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// shell is sh of the in-process executor: "sh -c script [name args]" or
// "sh file [args]".
func (g *goroutines) shell(ctx context.Context, c *Call) int {
	args, text := c.Args[1:], ""
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-c" {
		args = args[1:]
	}
	switch {
	case len(args) >= 2 && args[0] == "-c":
		text, args = args[1], args[min(3, len(args)):]
	case len(args) >= 1 && args[0] != "-c":
		b, err := os.ReadFile(inDir(c.Dir, args[0]))
		if err != nil {
			fmt.Fprintf(c.Stderr, "sh: %v\n", err)
			return 127
		}
		text, args = string(b), args[1:]
	default:
		b, err := io.ReadAll(c.Stdin)
		if err != nil {
			return 2
		}
		text, args = string(b), nil
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(text), "sh")
	if err != nil {
		fmt.Fprintf(c.Stderr, "sh: %v\n", err)
		return 2
	}
	s := &shellRun{g: g, call: c, fds: map[string]*lockFile{}}
	defer s.close()
	scratch, err := os.MkdirTemp(filepath.Join(c.Host.Root(), "tmp"), "sh")
	if err != nil {
		fmt.Fprintf(c.Stderr, "sh: %v\n", err)
		return 2
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	rewrite(file, scratch)
	var stdin io.Reader
	if f, ok := c.Stdin.(*os.File); ok {
		stdin = f
	}
	r, err := interp.New(
		interp.StdIO(stdin, c.Stdout, c.Stderr), interp.Env(expand.ListEnviron(c.Env...)), interp.Dir(c.Dir),
		interp.Params(append([]string{"--"}, args...)...),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return s.exec }),
	)
	if err != nil {
		fmt.Fprintf(c.Stderr, "sh: %v\n", err)
		return 2
	}
	err = r.Run(ctx, file)
	var status interp.ExitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	}
	fmt.Fprintf(c.Stderr, "sh: %v\n", err)
	return 2
}

func inDir(dir, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}

// shellRun is one run of the interpreter.
type shellRun struct {
	g    *goroutines
	call *Call
	mu   sync.Mutex
	fds  map[string]*lockFile // open descriptors above 2, by number
}

// exec runs a program that a script calls.
func (s *shellRun) exec(ctx context.Context, args []string) error {
	h := interp.HandlerCtx(ctx)
	if args[0] == openFd && len(args) == 3 {
		return s.openFd(args[1], inDir(h.Dir, args[2]))
	}
	var env []string
	h.Env.Each(func(name string, v expand.Variable) bool {
		if v.Exported && v.IsSet() {
			env = append(env, name+"="+v.String())
		}
		return true
	})
	var stdin io.Reader = strings.NewReader("")
	if h.Stdin != nil {
		stdin = h.Stdin
	}
	c := &Call{
		Args: args, Env: env, Dir: h.Dir, Parent: s.call.Parent,
		Stdin: stdin, Stdout: h.Stdout, Stderr: h.Stderr, Clock: s.call.Clock, Host: s.call.Host,
	}
	if args[0] == "flock" {
		if code, done := s.flockFd(ctx, c); done {
			return exit(code)
		}
	}
	return exit(s.g.run(ctx, nil, c))
}

func exit(code int) error {
	if code == 0 {
		return nil
	}
	return interp.ExitStatus(uint8(code))
}

func (s *shellRun) openFd(fd, file string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		fmt.Fprintf(s.call.Stderr, "sh: cannot create %s: %v\n", file, err)
		return interp.ExitStatus(2)
	}
	_ = f.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fds[fd] = &lockFile{path: file}
	return nil
}

// flockFd is "flock [-n|-w s|-u] FD" on a descriptor that exec opened.
func (s *shellRun) flockFd(ctx context.Context, c *Call) (int, bool) {
	q, err := parseFlock(c.Args[1:])
	if err != nil || len(q.command) > 0 {
		return 0, false
	}
	if _, err := strconv.Atoi(q.target); err != nil {
		return 0, false
	}
	s.mu.Lock()
	f := s.fds[q.target]
	s.mu.Unlock()
	if f == nil {
		fmt.Fprintf(c.Stderr, "flock: %s: Bad file descriptor\n", q.target)
		return 65, true
	}
	if q.unlock {
		f.unlock()
		return 0, true
	}
	return q.wait(ctx, c.Clock, f), true
}

// close gives the locks back, as the end of a process does.
func (s *shellRun) close() {
	for _, f := range s.fds {
		f.unlock()
	}
}

// openFd is the program that rewrite puts in place of a redirection of a
// descriptor that the interpreter does not know.
const openFd = "__open_fd"

// rewrite replaces what does not work in virtual time. Pipes of the operating
// system would stop it: the programs of a pipeline run one after the other,
// through a file. Descriptors above 2 are only used for locks.
func rewrite(f *syntax.File, scratch string) {
	n := 0
	syntax.Walk(f, func(node syntax.Node) bool {
		s, ok := node.(*syntax.Stmt)
		if !ok {
			return true
		}
		keep := s.Redirs[:0]
		var opens []*syntax.Stmt
		for _, r := range s.Redirs {
			if r.N != nil && len(r.N.Value) > 0 && r.N.Value > "2" {
				opens = append(opens, callOf(openFd, literal(r.N.Value), r.Word))
				continue
			}
			keep = append(keep, r)
		}
		s.Redirs = keep
		if len(opens) > 0 {
			if call, ok := s.Cmd.(*syntax.CallExpr); ok && len(call.Args) == 1 && call.Args[0].Lit() == "exec" {
				s.Cmd = opens[0].Cmd
			} else {
				s.Cmd = &syntax.Block{Stmts: append(opens, &syntax.Stmt{Cmd: s.Cmd})}
			}
		}
		if call, ok := s.Cmd.(*syntax.CallExpr); ok {
			s.Cmd = declaration(call)
		}
		if b, ok := s.Cmd.(*syntax.BinaryCmd); ok && (b.Op == syntax.Pipe || b.Op == syntax.PipeAll) {
			n++
			file := literal(filepath.Join(scratch, strconv.Itoa(n)))
			left := &syntax.Stmt{Cmd: &syntax.Subshell{Stmts: []*syntax.Stmt{b.X}}, Redirs: []*syntax.Redirect{{Op: syntax.RdrOut, Word: file}}}
			right := &syntax.Stmt{Cmd: &syntax.Subshell{Stmts: []*syntax.Stmt{b.Y}}, Redirs: []*syntax.Redirect{{Op: syntax.RdrIn, Word: file}}}
			// The left side's exit code does not count, not even with set -e.
			tolerant := &syntax.Stmt{Cmd: &syntax.BinaryCmd{Op: syntax.OrStmt, X: left, Y: callOf("true")}}
			s.Cmd = &syntax.Block{Stmts: []*syntax.Stmt{tolerant, right}}
		}
		return true
	})
}

// declaration is what export and readonly are to the interpreter: the parser of
// POSIX takes them for programs, as POSIX does.
func declaration(call *syntax.CallExpr) syntax.Command {
	if len(call.Args) == 0 || len(call.Assigns) > 0 || (call.Args[0].Lit() != "export" && call.Args[0].Lit() != "readonly") {
		return call
	}
	clause := &syntax.DeclClause{Variant: &syntax.Lit{Value: call.Args[0].Lit()}}
	for _, word := range call.Args[1:] {
		first, ok := word.Parts[0].(*syntax.Lit)
		if !ok {
			return call
		}
		name, value, sets := strings.Cut(first.Value, "=")
		assign := &syntax.Assign{Naked: !sets, Name: &syntax.Lit{Value: name}}
		if sets {
			assign.Value = &syntax.Word{Parts: append([]syntax.WordPart{&syntax.Lit{Value: value}}, word.Parts[1:]...)}
		}
		clause.Args = append(clause.Args, assign)
	}
	return clause
}

func literal(s string) *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: s}}}
}

func callOf(name string, args ...*syntax.Word) *syntax.Stmt {
	words := []*syntax.Word{{Parts: []syntax.WordPart{&syntax.Lit{Value: name}}}}
	return &syntax.Stmt{Cmd: &syntax.CallExpr{Args: append(words, args...)}}
}
