package demo

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/control/awsrunner"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/lambdas/takeover"
)

// timing is set in the environment of a test binary that runs takeovers for
// BenchmarkTakeover: a bubble of testing/synctest needs a test.
const timing = "HADR_TEST_TIME_TAKEOVERS"

// BenchmarkTakeover measures one takeover in process and in virtual time: from
// the alarm's event to the end of the operation, and the whole outage from the
// loss of the primary's host, 100 seconds before, with all that the pair, the
// agents and AWS do meanwhile.
func BenchmarkTakeover(b *testing.B) {
	var takeovers, outages, cpu []time.Duration
	for b.Loop() {
		cmd := exec.Command(os.Args[0], "-test.run=^TestTakeoverForBenchmark$", "-test.v")
		cmd.Env = append(os.Environ(), timing+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		for line := range strings.Lines(string(out)) {
			var t, o, c time.Duration
			if n, _ := fmt.Sscanf(line, "takeover: %d outage: %d cpu: %d", &t, &o, &c); n == 3 {
				takeovers, outages, cpu = append(takeovers, t), append(outages, o), append(cpu, c)
			}
		}
	}
	if len(takeovers) == 0 {
		b.Fatal("no takeover was timed")
	}
	b.ReportMetric(median(takeovers), "takeover-ms")
	b.ReportMetric(median(outages), "outage-ms")
	b.ReportMetric(median(cpu), "outage-cpu-ms")
}

func median(d []time.Duration) (milliseconds float64) {
	slices.Sort(d)
	return float64(d[len(d)/2].Microseconds()) / 1000
}

func TestTakeoverForBenchmark(t *testing.T) {
	if os.Getenv(timing) == "" {
		t.Skip("it is timed by BenchmarkTakeover")
	}
	for range 10 {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			s, err := NewVirtualStage(t.Context(), dir, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := timeTakeover(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// timeTakeover prints what one takeover takes.
func timeTakeover(ctx context.Context, s *Stage) error {
	table, err := s.declare(ctx)
	if err != nil {
		return err
	}
	if err := s.configureAgents(ctx, coreTable, coreGroup); err != nil {
		return err
	}
	if err := s.Clock.Sleep(ctx, 5*time.Minute); err != nil { // the agents have measured
		return err
	}
	began, used := wallClock(), processorTime()
	if err := s.EC2.Vanish(s.Instance("a")); err != nil {
		return err
	}
	if err := s.Clock.Sleep(ctx, 100*time.Second); err != nil {
		return err
	}
	log := slog.New(slog.DiscardHandler)
	runners := awsrunner.New(s.Config(Region), coreTable, s.Clock, log)
	h := &takeover.Handler{Store: runners.Table(), Runner: runners.Group, Clock: s.Clock, Log: log, NewID: awsrunner.OperationID}
	event, err := s.coreEvent()
	if err != nil {
		return err
	}
	called := wallClock()
	if _, err := h.Handle(ctx, event); err != nil {
		return err
	}
	ended := wallClock()
	fmt.Printf("takeover: %d outage: %d cpu: %d\n", ended-called, ended-began, processorTime()-used)
	state, err := table.Load(ctx, coreGroup)
	if err != nil {
		return err
	}
	if state.Primary != "b" || state.Phase != failover.Steady {
		return fmt.Errorf("after the takeover the group is %s with primary %s", state.Phase, state.Primary)
	}
	return nil
}

// wallClock and processorTime are those of the operating system, which no
// bubble makes virtual.
func wallClock() time.Duration {
	var v syscall.Timeval
	_ = syscall.Gettimeofday(&v) // fails for no valid pointer
	return time.Duration(v.Nano())
}

func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // likewise
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
