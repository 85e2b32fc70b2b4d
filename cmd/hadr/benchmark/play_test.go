package benchmark

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// asked holds what a benchmark asks of a process of its own, as a bubble of
// testing/synctest needs a test.
const asked = "HADR_TEST_BENCHMARK"

// task is what is asked: failures of a case, or days without one.
type task struct {
	Case    int
	Days    bool
	Weather Weather
	Count   int
	Seed    uint64
	Answer  string // file
}

// TestMain lets garbage be: a failure makes a lot of it in a short time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// scratch is a directory in memory where there is one.
func scratch(t testing.TB) string {
	t.Helper()
	for _, parent := range []string{"/dev/shm", ""} {
		// TempDir is on a disk, whose writes cost more than everything else.
		if dir, err := os.MkdirTemp(parent, "benchmark"); err == nil { //nolint:usetesting
			return dir
		}
	}
	t.Fatal("no directory for the disks of the hosts")
	return ""
}

func profile(t testing.TB) Profile {
	t.Helper()
	p, err := Assumed()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fail plays one failure in a bubble of its own.
func fail(t *testing.T, c Case, seed uint64) (o Outage) {
	t.Helper()
	p, dir := profile(t), scratch(t)
	defer os.RemoveAll(dir)
	var err error
	synctest.Test(t, func(t *testing.T) { o, err = Fail(t.Context(), dir, c, seed, p) })
	if err != nil {
		t.Fatalf("%s, seed %d: %v", c.Name, seed, err)
	}
	return o
}

// quiet plays a day without a failure in a bubble of its own.
func quiet(t *testing.T, c Case, w Weather, length time.Duration, seed uint64) (q Calm) {
	t.Helper()
	p := profile(t)
	var err error
	synctest.Test(t, func(t *testing.T) { q, err = Quiet(t.Context(), c, w, length, seed, p) })
	if err != nil {
		t.Fatalf("%s, seed %d: %v", c.Name, seed, err)
	}
	return q
}

// many plays consecutive seeds on all processors.
func many[T any](t *testing.T, first uint64, count int, play func(t *testing.T, seed uint64) T) []T {
	t.Helper()
	all := make([]T, count)
	var next atomic.Int64
	t.Run("play", func(t *testing.T) {
		for worker := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint(worker), func(t *testing.T) {
				t.Parallel()
				for i := int(next.Add(1)) - 1; i < count; i = int(next.Add(1)) - 1 {
					all[i] = play(t, first+uint64(i))
				}
			})
		}
	})
	return all
}

// TestForBenchmark plays for a benchmark.
func TestForBenchmark(t *testing.T) {
	text := os.Getenv(asked)
	if text == "" {
		t.Skip("it plays for the benchmarks")
	}
	var a task
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatal(err)
	}
	c := Cases[a.Case]
	var out any
	if a.Days {
		out = many(t, a.Seed, a.Count, func(t *testing.T, seed uint64) Calm { return quiet(t, c, a.Weather, day, seed) })
	} else {
		out = many(t, a.Seed, a.Count, func(t *testing.T, seed uint64) Outage { return fail(t, c, seed) })
	}
	answer, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.Answer, answer, 0o600); err != nil {
		t.Fatal(err)
	}
}

// ask lets a process of its own do a task.
func ask[T any](ctx context.Context, dir string, a task) (out []T, err error) {
	a.Answer = filepath.Join(dir, "answer.json")
	text, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestForBenchmark$", "-test.timeout=0")
	cmd.Env = append(os.Environ(), asked+"="+string(text))
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, said)
	}
	answer, err := os.ReadFile(a.Answer)
	if err != nil {
		return nil, err
	}
	return out, json.Unmarshal(answer, &out)
}
