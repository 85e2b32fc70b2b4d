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
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// What a benchmark asks of a process of its own, as a bubble of testing/synctest
// needs a test.
const (
	askedCase     = "HADR_TEST_BENCHMARK_CASE"
	askedFailures = "HADR_TEST_BENCHMARK_FAILURES"
	askedSeed     = "HADR_TEST_BENCHMARK_SEED"
	askedAnswer   = "HADR_TEST_BENCHMARK_ANSWER"
)

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

// fail plays one failure in a bubble of its own.
func fail(t *testing.T, c Case, seed uint64, p Profile) (o Outage) {
	t.Helper()
	dir := scratch(t)
	defer os.RemoveAll(dir)
	var err error
	synctest.Test(t, func(t *testing.T) { o, err = Fail(t.Context(), dir, c, seed, p) })
	if err != nil {
		t.Fatalf("%s, seed %d: %v", c.Name, seed, err)
	}
	return o
}

// failAll plays failures of consecutive seeds on all processors.
func failAll(t *testing.T, c Case, first uint64, failures int) []Outage {
	t.Helper()
	p, err := Assumed()
	if err != nil {
		t.Fatal(err)
	}
	outages := make([]Outage, failures)
	var next atomic.Int64
	t.Run("play", func(t *testing.T) {
		for worker := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint(worker), func(t *testing.T) {
				t.Parallel()
				for i := int(next.Add(1)) - 1; i < failures; i = int(next.Add(1)) - 1 {
					outages[i] = fail(t, c, first+uint64(i), p)
				}
			})
		}
	})
	return outages
}

// TestForBenchmark plays the failures of one case for a benchmark.
func TestForBenchmark(t *testing.T) {
	i, err := strconv.Atoi(os.Getenv(askedCase))
	if err != nil {
		t.Skip("it is played by BenchmarkFailures")
	}
	failures, err := strconv.Atoi(os.Getenv(askedFailures))
	if err != nil {
		t.Fatal(err)
	}
	seed, err := strconv.ParseUint(os.Getenv(askedSeed), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(failAll(t, Cases[i], seed, failures))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(os.Getenv(askedAnswer), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// ask lets a process of its own play a case.
func ask(ctx context.Context, dir string, i, failures int, seed uint64) ([]Outage, error) {
	file := filepath.Join(dir, "outages.json")
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestForBenchmark$", "-test.timeout=0")
	cmd.Env = append(os.Environ(), askedCase+"="+strconv.Itoa(i), askedFailures+"="+strconv.Itoa(failures),
		askedSeed+"="+strconv.FormatUint(seed, 10), askedAnswer+"="+file)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var outages []Outage
	return outages, json.Unmarshal(text, &outages)
}
