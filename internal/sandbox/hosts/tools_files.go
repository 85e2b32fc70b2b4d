package hosts

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

func tr(_ context.Context, c *Call) int {
	flags, sets := c.parse("")
	b, err := io.ReadAll(c.Stdin)
	if err != nil || len(sets) == 0 {
		return 1
	}
	from := characters(sets[0])
	var out strings.Builder
	var last rune = -1
	for _, r := range string(b) {
		i := strings.IndexRune(from, r)
		switch {
		case i < 0:
		case has(flags, 'd'):
			continue
		case len(sets) > 1:
			to := []rune(characters(sets[1]))
			r = to[min(len([]rune(from[:i])), len(to)-1)]
		}
		if has(flags, 's') && r == last && i >= 0 {
			continue
		}
		last = r
		out.WriteRune(r)
	}
	_, _ = io.WriteString(c.Stdout, out.String())
	return 0
}

var reRange = regexp.MustCompile(`(.)-(.)`)

// characters expands a set of tr.
func characters(s string) string {
	s = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", "[:lower:]", "a-z", "[:upper:]", "A-Z", "[:digit:]", "0-9", "[:space:]", " \t\n\r", "[:blank:]", " \t").Replace(s)
	return reRange.ReplaceAllStringFunc(s, func(m string) string {
		var b strings.Builder
		for r := rune(m[0]); r <= rune(m[len(m)-1]); r++ {
			b.WriteRune(r)
		}
		return b.String()
	})
}

func wc(_ context.Context, c *Call) int {
	flags, files := c.parse("")
	lines, size := 0, 0
	err := c.lines(files, func(line string) bool { lines++; size += len(line) + 1; return true })
	if has(flags, 'c') {
		lines = size
	}
	fmt.Fprintln(c.Stdout, lines)
	return exitCode(err)
}

func seq(_ context.Context, c *Call) int {
	first, last := 1, 0
	var err error
	if len(c.Args) > 2 {
		first, err = strconv.Atoi(c.Args[1])
	}
	if err == nil {
		last, err = strconv.Atoi(c.Args[len(c.Args)-1])
	}
	if err != nil {
		return c.complain(err)
	}
	for i := first; i <= last; i++ {
		fmt.Fprintln(c.Stdout, i)
	}
	return 0
}

func tee(_ context.Context, c *Call) int {
	flags, files := c.parse("")
	mode := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	if has(flags, 'a') {
		mode = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	}
	out := []io.Writer{c.Stdout}
	for _, name := range files {
		f, err := os.OpenFile(inDir(c.Dir, name), mode, 0o644)
		if err != nil {
			return c.complain(err)
		}
		defer func() { _ = f.Close() }()
		out = append(out, f)
	}
	_, err := io.Copy(io.MultiWriter(out...), c.Stdin)
	return exitCode(err)
}

// envTool is "env [NAME=VALUE...] [command]".
func envTool(ctx context.Context, c *Call) int {
	args := c.Args[1:]
	env := c.Env
	for len(args) > 0 && (strings.Contains(args[0], "=") || args[0] == "--") {
		if args[0] != "--" {
			env = append(append([]string(nil), env...), args[0])
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return c.say(strings.Join(env, "\n"))
	}
	next := *c
	next.Args, next.Env = args, env
	return c.Host.Exec(ctx, &next)
}

// each runs f for every operand and reports the failures.
func (c *Call) each(operands []string, f func(path string) error) int {
	code := 0
	for _, name := range operands {
		if err := f(inDir(c.Dir, name)); err != nil {
			code = c.complain(err)
		}
	}
	return code
}

func mkdir(_ context.Context, c *Call) int {
	flags, dirs := c.parse("m")
	return c.each(dirs, func(path string) error {
		if has(flags, 'p') {
			return os.MkdirAll(path, 0o755)
		}
		return os.Mkdir(path, 0o755)
	})
}

func install(ctx context.Context, c *Call) int {
	flags, files := c.parse("mog")
	if has(flags, 'd') {
		return c.each(files, func(path string) error { return os.MkdirAll(path, 0o755) })
	}
	return cp(ctx, c)
}

func rmdir(_ context.Context, c *Call) int {
	_, dirs := c.parse("")
	return c.each(dirs, os.Remove)
}

func rm(_ context.Context, c *Call) int {
	flags, files := c.parse("")
	return c.each(files, func(path string) error {
		if has(flags, 'r') || has(flags, 'R') {
			return os.RemoveAll(path)
		}
		err := os.Remove(path)
		if has(flags, 'f') && os.IsNotExist(err) {
			return nil
		}
		return err
	})
}

func touch(_ context.Context, c *Call) int {
	_, files := c.parse("")
	return c.each(files, func(path string) error {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		return f.Close()
	})
}

// destination is where cp and mv bring a file.
func (c *Call) destination(files []string) string {
	to := inDir(c.Dir, files[len(files)-1])
	if info, err := os.Stat(to); err == nil && info.IsDir() {
		return filepath.Join(to, filepath.Base(files[0]))
	}
	return to
}

func mv(_ context.Context, c *Call) int {
	_, files := c.parse("")
	if len(files) != 2 {
		return c.complain(fmt.Errorf("want two operands"))
	}
	if err := os.Rename(inDir(c.Dir, files[0]), c.destination(files)); err != nil {
		return c.complain(err)
	}
	return 0
}

func cp(_ context.Context, c *Call) int {
	_, files := c.parse("mog")
	if len(files) != 2 {
		return c.complain(fmt.Errorf("want two operands"))
	}
	b, err := os.ReadFile(inDir(c.Dir, files[0]))
	if err == nil {
		err = os.WriteFile(c.destination(files), b, 0o644)
	}
	if err != nil {
		return c.complain(err)
	}
	return 0
}

func ls(_ context.Context, c *Call) int {
	_, files := c.parse("")
	if len(files) == 0 {
		files = []string{"."}
	}
	return c.each(files, func(path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			fmt.Fprintln(c.Stdout, path)
			return nil
		}
		entries, err := os.ReadDir(path)
		for _, e := range entries {
			fmt.Fprintln(c.Stdout, e.Name())
		}
		return err
	})
}

func mktemp(_ context.Context, c *Call) int {
	flags, names := c.parse("")
	dir, pattern := filepath.Join(c.Host.Root(), "tmp"), "tmp.*"
	if len(names) > 0 {
		path := inDir(c.Dir, names[0])
		dir, pattern = filepath.Dir(path), strings.TrimRight(filepath.Base(path), "X")+"*"
	}
	if has(flags, 'd') {
		path, err := os.MkdirTemp(dir, pattern)
		if err != nil {
			return c.complain(err)
		}
		return c.say(path)
	}
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return c.complain(err)
	}
	defer func() { _ = f.Close() }()
	return c.say(f.Name())
}
