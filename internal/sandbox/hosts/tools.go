package hosts

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// tools are small stand-ins for the programs of /usr/bin that scripts use, for
// the in-process executor. They know the options named with them.
var tools = map[string]CommandFunc{
	"basename": func(_ context.Context, c *Call) int { return c.say(filepath.Base(c.arg(1))) },
	"cat":      cat,
	"chmod":    func(_ context.Context, c *Call) int { return 0 },
	"chown":    func(_ context.Context, c *Call) int { return 0 },
	"cp":       cp,
	"cut":      cut, // -d -f
	"dirname":  func(_ context.Context, c *Call) int { return c.say(filepath.Dir(c.arg(1))) },
	"env":      envTool,
	"grep":     grep, // -q -i -v -c -o -E -F -m
	"head":     head, // -n -c
	"id":       func(_ context.Context, c *Call) int { return c.say("0") },
	"install":  install, // -d -m
	"logger":   func(_ context.Context, c *Call) int { return 0 },
	"ls":       ls,
	"mkdir":    mkdir,  // -p
	"mktemp":   mktemp, // -d
	"mv":       mv,
	"rm":       rm, // -r -f
	"rmdir":    rmdir,
	"sed":      sed, // -n -E, s and p with a pattern
	"seq":      seq,
	"sync":     func(_ context.Context, c *Call) int { return 0 },
	"tail":     tail, // -n
	"tee":      tee,  // -a
	"touch":    touch,
	"tr":       tr, // -d -s
	"uname":    func(_ context.Context, c *Call) int { return c.say("Linux") },
	"wc":       wc, // -l -c
}

func (c *Call) arg(i int) string {
	if i < len(c.Args) {
		return c.Args[i]
	}
	return ""
}

func (c *Call) say(s string) int {
	fmt.Fprintln(c.Stdout, s)
	return 0
}

// parse splits flags from operands; letters in valued take a value.
func (c *Call) parse(valued string) (flags map[byte]string, operands []string) {
	flags = map[byte]string{}
	args := c.Args[1:]
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		if a == "--" {
			return flags, append(operands, args...)
		}
		if len(a) < 2 || a[0] != '-' {
			operands = append(operands, a)
			continue
		}
		for i := 1; i < len(a); i++ {
			if !strings.Contains(valued, string(a[i])) {
				flags[a[i]] = ""
				continue
			}
			if v := a[i+1:]; v != "" {
				flags[a[i]] = v
			} else if len(args) > 0 {
				flags[a[i]], args = args[0], args[1:]
			}
			break
		}
	}
	return flags, operands
}

func has(flags map[byte]string, f byte) bool { _, ok := flags[f]; return ok }

// lines calls f for each line of the files, or of standard input.
func (c *Call) lines(files []string, f func(string) bool) error {
	if len(files) == 0 {
		files = []string{"-"}
	}
	for _, name := range files {
		in := c.Stdin
		if name != "-" {
			file, err := os.Open(inDir(c.Dir, name))
			if err != nil {
				return err
			}
			defer func() { _ = file.Close() }()
			in = file
		}
		s := bufio.NewScanner(in)
		s.Buffer(nil, 1<<20)
		for s.Scan() {
			if !f(s.Text()) {
				return nil
			}
		}
	}
	return nil
}

func cat(_ context.Context, c *Call) int {
	_, files := c.parse("")
	if len(files) == 0 {
		files = []string{"-"}
	}
	code := 0
	for _, name := range files {
		if name == "-" {
			_, _ = io.Copy(c.Stdout, c.Stdin)
			continue
		}
		b, err := os.ReadFile(inDir(c.Dir, name))
		if err != nil {
			code = c.complain(err)
		}
		_, _ = c.Stdout.Write(b)
	}
	return code
}

func grep(_ context.Context, c *Call) int {
	flags, rest := c.parse("em")
	pattern, ok := flags['e']
	if !ok {
		if len(rest) == 0 {
			return 2
		}
		pattern, rest = rest[0], rest[1:]
	}
	switch {
	case has(flags, 'F'):
		pattern = regexp.QuoteMeta(pattern)
	case !has(flags, 'E'):
		pattern = basicRegexp(pattern)
	}
	if has(flags, 'i') {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		c.complain(err)
		return 2
	}
	limit, err := strconv.Atoi(flags['m'])
	if err != nil {
		limit = -1
	}
	found := 0
	err = c.lines(rest, func(line string) bool {
		if re.MatchString(line) == has(flags, 'v') {
			return true
		}
		found++
		switch {
		case has(flags, 'q') || has(flags, 'c'):
		case has(flags, 'o'):
			for _, m := range re.FindAllString(line, -1) {
				fmt.Fprintln(c.Stdout, m)
			}
		default:
			fmt.Fprintln(c.Stdout, line)
		}
		return found != limit
	})
	if has(flags, 'c') {
		fmt.Fprintln(c.Stdout, found)
	}
	switch {
	case err != nil:
		c.complain(err)
		return 2
	case found == 0:
		return 1
	}
	return 0
}

// basicRegexp turns a POSIX basic regular expression into one of Go.
func basicRegexp(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch ch := s[i]; {
		case ch == '\\' && i+1 < len(s):
			i++
			if !strings.ContainsRune("(){}|+?", rune(s[i])) {
				b.WriteByte('\\')
			}
			b.WriteByte(s[i])
		case strings.ContainsRune("(){}|+?", rune(ch)):
			b.WriteByte('\\')
			b.WriteByte(ch)
		default:
			b.WriteByte(ch)
		}
	}
	return b.String()
}

var reSed = regexp.MustCompile(`^(?:s(.))(.*)$`)

// sed knows "s/re/replacement/[gp]" and "/re/p", with -n and -E.
func sed(_ context.Context, c *Call) int {
	flags, rest := c.parse("e")
	script, ok := flags['e']
	if !ok {
		if len(rest) == 0 {
			return 1
		}
		script, rest = rest[0], rest[1:]
	}
	convert := basicRegexp
	if has(flags, 'E') || has(flags, 'r') {
		convert = func(s string) string { return s }
	}
	edit := func(string) (string, bool) { return "", false }
	if m := reSed.FindStringSubmatch(script); m != nil {
		parts := strings.Split(m[2], m[1])
		if len(parts) != 3 {
			return c.complain(fmt.Errorf("unsupported script %q", script))
		}
		re, err := regexp.Compile(convert(parts[0]))
		if err != nil {
			return c.complain(err)
		}
		replacement := regexp.MustCompile(`\\(\d)`).ReplaceAllString(strings.ReplaceAll(parts[1], "&", "${0}"), "$${$1}")
		edit = func(line string) (string, bool) {
			if !re.MatchString(line) {
				return line, false
			}
			if strings.Contains(parts[2], "g") {
				return re.ReplaceAllString(line, replacement), strings.Contains(parts[2], "p")
			}
			at := re.FindStringSubmatchIndex(line)
			return line[:at[0]] + string(re.ExpandString(nil, replacement, line, at)) + line[at[1]:], strings.Contains(parts[2], "p")
		}
	} else if p, ok := strings.CutSuffix(strings.TrimPrefix(script, "/"), "/p"); ok {
		re, err := regexp.Compile(convert(p))
		if err != nil {
			return c.complain(err)
		}
		edit = func(line string) (string, bool) { return line, re.MatchString(line) }
	} else {
		return c.complain(fmt.Errorf("unsupported script %q", script))
	}
	return exitCode(c.lines(rest, func(line string) bool {
		text, show := edit(line)
		if !has(flags, 'n') || show {
			fmt.Fprintln(c.Stdout, text)
		}
		return true
	}))
}

func head(_ context.Context, c *Call) int {
	flags, files := c.parse("nc")
	if v, ok := flags['c']; ok {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return c.complain(err)
		}
		_, err = io.CopyN(c.Stdout, c.Stdin, n)
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return exitCode(err)
	}
	n := 10
	if v, err := strconv.Atoi(flags['n']); err == nil {
		n = v
	}
	for f := range flags {
		if f >= '0' && f <= '9' {
			n = int(f - '0')
		}
	}
	return exitCode(c.lines(files, func(line string) bool {
		if n > 0 {
			fmt.Fprintln(c.Stdout, line)
		}
		n--
		return n > 0
	}))
}

func tail(_ context.Context, c *Call) int {
	flags, files := c.parse("n")
	n := 10
	if v, err := strconv.Atoi(strings.TrimPrefix(flags['n'], "+")); err == nil {
		n = v
	}
	var kept []string
	err := c.lines(files, func(line string) bool { kept = append(kept, line); return true })
	from := max(0, len(kept)-n)
	if strings.HasPrefix(flags['n'], "+") {
		from = min(len(kept), max(0, n-1))
	}
	for _, line := range kept[from:] {
		fmt.Fprintln(c.Stdout, line)
	}
	return exitCode(err)
}

func cut(_ context.Context, c *Call) int {
	flags, files := c.parse("df")
	sep := "\t"
	if d, ok := flags['d']; ok {
		sep = d
	}
	want := strings.Split(flags['f'], ",")
	return exitCode(c.lines(files, func(line string) bool {
		fields := strings.Split(line, sep)
		if len(fields) == 1 {
			fmt.Fprintln(c.Stdout, line)
			return true
		}
		var kept []string
		for i, f := range fields {
			if slices.ContainsFunc(want, func(w string) bool {
				open, ok := strings.CutSuffix(w, "-")
				n, err := strconv.Atoi(open)
				return err == nil && (i+1 == n || ok && i+1 > n)
			}) {
				kept = append(kept, f)
			}
		}
		fmt.Fprintln(c.Stdout, strings.Join(kept, sep))
		return true
	}))
}
