package demo

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
)

// Scenarios of a group with a lease: it tells in seconds what alarms tell in
// minutes.

// leased declares the lease and waits until the primary holds it.
func (s *scene) leased(ctx context.Context, duration, interval time.Duration) error {
	for _, node := range s.stage.nodes() {
		p, err := s.watcher.Table.ReadProbe(ctx, s.group, node)
		if err != nil {
			return err
		}
		p.LeaseDuration, p.LeaseInterval, p.Function = duration, interval, takeoverFunction
		if err := s.watcher.Table.PutProbe(ctx, p); err != nil {
			return err
		}
	}
	// Each agent reads its declaration once a minute.
	if err := s.until(ctx, "a lease of node a that both agents know", func(failover.State) bool {
		l, err := s.lease(ctx)
		return err == nil && l.Holder == "a" && l.Counter > 20
	}); err != nil {
		return err
	}
	return s.stage.Clock.Sleep(ctx, 90*time.Second)
}

func (s *scene) lease(ctx context.Context) (statetable.Lease, error) {
	return s.watcher.Table.ReadLease(ctx, s.group)
}

// toldByAgent expects that the takeover was started by the standby's agent, on
// the evidence of the lease.
func (s *scene) toldByAgent(ctx context.Context) error {
	e, err := s.told(ctx, "started", "takeover from a to b")
	if err != nil {
		return err
	}
	s.result.expect(strings.HasPrefix(e.Actor, "hadr.agent"), "the takeover was started by %q, not by the agent", e.Actor)
	return nil
}

// leaseExpired: the primary's host vanishes, and its lease says so first.
func leaseExpired(ctx context.Context, s *scene) error {
	if err := s.leased(ctx, 20*time.Second, 5*time.Second); err != nil {
		return err
	}
	if err := s.vanishes("a"); err != nil {
		return err
	}
	if err := s.takenOver(ctx, "b", 2); err != nil {
		return err
	}
	taken := s.stage.Clock.Now().Sub(s.failure)
	s.result.expect(taken < time.Minute, "with a lease of 20 s it took %s", taken)
	return s.toldByAgent(ctx)
}

// leaseOfCrash: the database server crashes, which its standby sees at once.
func leaseOfCrash(ctx context.Context, s *scene) error {
	if err := s.leased(ctx, 6*time.Second, 2*time.Second); err != nil {
		return err
	}
	if err := db2Killed(ctx, s); err != nil {
		return err
	}
	return s.toldByAgent(ctx)
}

// stoppedInOrder: the database is stopped for a patch, by somebody who says so.
// Nobody takes it over, and it goes on where it was.
func stoppedInOrder(ctx context.Context, s *scene) error {
	if err := s.leased(ctx, 6*time.Second, 2*time.Second); err != nil {
		return err
	}
	shell := func(script string) error { return s.shell(ctx, "a", script) }
	if err := s.fails("hadr-agent stopping --reason patch, and db2stop on node a", func() error {
		return errors.Join(shell(`mkdir -p "${HADR_ROOT:-}/var/lib/hadr/`+s.group+`" && echo 'patch, by dba' >"${HADR_ROOT:-}/var/lib/hadr/`+s.group+`/stopped"`), shell("systemctl stop db2"))
	}); err != nil {
		return err
	}
	if err := s.refused(ctx, failover.GuardOrderly); err != nil {
		return err
	}
	if err := s.watched(ctx, 4*time.Minute); err != nil {
		return err
	}
	l, err := s.lease(ctx)
	s.result.expect(err == nil && strings.Contains(l.Suspended, "patch"), "the lease is not suspended: %+v, %v", l, err)
	if err := s.happens("db2start on node a", func() error { return shell("systemctl start db2") }); err != nil {
		return err
	}
	if err := s.until(ctx, "a lease of node a that is renewed again", func(failover.State) bool {
		l, err := s.lease(ctx)
		return err == nil && l.Holder == "a" && l.Suspended == "" && s.writes("a")
	}); err != nil {
		return err
	}
	return s.watched(ctx, 3*time.Minute)
}
