package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox"
)

// For how long the agents are let settle, and then watched.
const (
	settling = 15 * time.Second
	watched  = 40 * time.Second
)

// BenchmarkAgentFootprint is what the agents of a pair take from their hosts,
// with the quickest lease (6 s, renewed every 2 s), in real time: memory that is
// resident at most, and how much of that is not just pages of its program; CPU of
// the agent itself and, apart from it, of the programs that it starts, which are
// those of the simulated host here.
func BenchmarkAgentFootprint(b *testing.B) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		b.Skip("what a process takes is read from /proc, which only Linux has")
	}
	dir := b.TempDir()
	for _, program := range []string{"hadr-agent", "hadr-host"} {
		build := exec.CommandContext(b.Context(), "go", "build", "-ldflags", "-s -w", "-o", filepath.Join(dir, program), "../"+program) // as in the packages
		if out, err := build.CombinedOutput(); err != nil {
			b.Fatalf("building %s: %v\n%s", program, err, out)
		}
	}
	agents := runAgents(b, dir)
	if err := clock.System().Sleep(b.Context(), settling); err != nil {
		b.Fatal(err)
	}
	before, began := map[string]footprint{}, time.Now()
	for node, pid := range agents {
		before[node] = look(b, pid)
	}
	b.ResetTimer()
	most, private := map[string]float64{}, 0.0
	for time.Since(began) < watched {
		if err := clock.System().Sleep(b.Context(), time.Second); err != nil {
			b.Fatal(err)
		}
		for node, pid := range agents {
			now := look(b, pid)
			most[node], private = max(most[node], now.resident), max(private, now.private)
		}
	}
	b.StopTimer()
	took := time.Since(began).Seconds()
	for node, name := range map[string]string{"a": "primary", "b": "standby"} {
		now := look(b, agents[node])
		b.ReportMetric(most[node], name+"_rss_mb")
		b.ReportMetric(100*(now.own-before[node].own)/took, name+"_cpu_percent")
		b.ReportMetric(100*(now.children-before[node].children)/took, name+"_children_cpu_percent")
	}
	b.ReportMetric(max(most["a"], most["b"]), "rss_mb")
	b.ReportMetric(private, "private_mb")
}

// runAgents starts a sandbox with a group, and the agents of its hosts. It
// returns their processes by node.
func runAgents(b *testing.B, dir string) map[string]int {
	b.Helper()
	program := filepath.Join(dir, "hadr-agent")
	startPair(b, 6*time.Second, 2*time.Second, sandbox.Options{
		Dir: filepath.Join(dir, "hosts"), Listen: "127.0.0.1:0", Binary: filepath.Join(dir, "hadr-host"), Agent: program,
	})
	agents := map[string]int{}
	for range 100 {
		if agents = processes(b, program); len(agents) == 2 {
			return agents
		}
		must(b, clock.System().Sleep(b.Context(), 100*time.Millisecond))
	}
	b.Fatalf("%d agents run", len(agents))
	return nil
}

// processes finds the running copies of a program, by the node in their
// environment.
func processes(b *testing.B, program string) map[string]int {
	b.Helper()
	found := map[string]int{}
	all, err := filepath.Glob("/proc/[0-9]*/exe")
	must(b, err)
	for _, exe := range all {
		if target, err := os.Readlink(exe); err != nil || target != program {
			continue
		}
		env, err := os.ReadFile(filepath.Join(filepath.Dir(exe), "environ"))
		if err != nil {
			continue // it has ended
		}
		for v := range bytes.SplitSeq(env, []byte{0}) {
			if node, ok := strings.CutPrefix(string(v), "HADR_NODE="); ok {
				found[node], _ = strconv.Atoi(filepath.Base(filepath.Dir(exe)))
			}
		}
	}
	return found
}

// footprint is what a process takes: memory in megabytes, time in seconds.
type footprint struct{ resident, private, own, children float64 }

// ticks are those of a second in /proc, the same on every architecture of Go's:
// https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
const ticks = 100

func look(b *testing.B, pid int) footprint {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	must(b, err)
	_, rest, _ := strings.Cut(string(stat), ") ") // the name may hold anything
	fields := strings.Fields(rest)
	number := func(text string) float64 {
		n, err := strconv.ParseFloat(text, 64)
		must(b, err)
		return n
	}
	seconds := func(field int) float64 { return number(fields[field-3]) / ticks } // as the manual counts them: the state is the third
	f := footprint{own: seconds(14) + seconds(15), children: seconds(16) + seconds(17)}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	must(b, err)
	for line := range strings.Lines(string(status)) {
		switch name, value, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(line), " kB"), ":"); name {
		case "VmRSS":
			f.resident = number(strings.TrimSpace(value)) * 1024 / 1e6
		case "RssAnon":
			f.private = number(strings.TrimSpace(value)) * 1024 / 1e6
		}
	}
	return f
}
