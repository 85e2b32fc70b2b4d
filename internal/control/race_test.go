package control

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// TestFrozenInsideASave: what counts is when the record was asked, not when its
// answer was noticed (R22).
func TestFrozenInsideASave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, st, si := setup()
		frozen := false
		st.slow = func() {
			st.mu.Lock()
			defer st.mu.Unlock()
			if frozen || st.state.Operation == nil || st.state.Operation.Fence.Tries != 1 {
				return
			}
			frozen = true
			time.Sleep(10 * time.Minute)
			st.state.Operation, st.state.Phase = nil, failover.Steady // somebody gave it up meanwhile
			st.state.Version++
		}
		if _, err := r.Run(t.Context(), group, event(r.Clock)); err != nil {
			t.Fatal(err)
		}
		if !frozen || len(si.calls) > 0 {
			t.Errorf("frozen %v, calls %q", frozen, si.calls)
		}
	})
}

// TestRefusedClaimIsNotSaved: maintenance refuses the claim, and the record
// can't be read right after. The claim must not come back as a plain save (R11).
func TestRefusedClaimIsNotSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, st, si := setup()
		loads := 0
		st.state.Maintenance = failover.Maintenance{On: true, Until: r.Clock.Now().Add(-time.Second)} // expired for the core, set again for the table
		st.loadErr = func() error {
			if loads++; loads == 2 {
				return errors.New("no route to host")
			}
			return nil
		}
		if _, err := r.Run(t.Context(), group, event(r.Clock)); err == nil {
			t.Error("no error, so nobody delivers the event again")
		}
		if st.state.Operation != nil || st.state.Epoch != 7 || len(si.calls) > 0 {
			t.Errorf("claimed in maintenance: epoch %d, operation %+v, calls %q", st.state.Epoch, st.state.Operation, si.calls)
		}
	})
}

// TestRunnersDoNotTakeTurns: of two that find an operation whose runner is gone one
// goes on with it. Else each would take it up again because the other has, and
// neither would come to save what it has read.
func TestRunnersDoNotTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, st, si := setup()
		st.state.Epoch, st.state.Primary, st.state.Phase = 8, "b", failover.TakingOver
		si.role["b"] = failover.RoleUnknown
		now := r.Clock.Now()
		st.state.Operation = &failover.Operation{
			ID: "op1", Kind: failover.Adopt, From: "a", To: "b", Step: failover.StepConfirm, Attempt: 1,
			Started: now, StepSince: now, Deadline: now, Config: st.state.Config.WithDefaults(), Routes: map[string]failover.Redirect{},
		}
		begun := st.state.Version
		r.Engine = slowReads{r.Engine}
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute)
		defer stop()
		var runners sync.WaitGroup
		for _, id := range []string{"op2", "op3"} {
			runners.Go(func() { _, _ = r.Watch(ctx, group, id) })
			time.Sleep(400 * time.Millisecond)
		}
		runners.Wait()
		if saves := st.state.Version - begun; st.state.Phase != failover.Blocked || saves > 10 {
			t.Errorf("phase %s after %d saves", st.state.Phase, saves)
		}
	})
}

// slowReads is an Engine whose nodes take a second to answer.
type slowReads struct{ Engine }

func (s slowReads) Observe(ctx context.Context, group string, n failover.NodeConfig, settings map[string]string) failover.Observation {
	time.Sleep(time.Second)
	return s.Engine.Observe(ctx, group, n, settings)
}

// TestWatchWithoutCloudWatch: an interrupted operation is gone on with, whatever
// can't be read (R32).
func TestWatchWithoutCloudWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, st, si := setup()
		ctx, die := context.WithCancel(t.Context())
		si.onCall = func(string) { die() }
		_, _ = r.Run(ctx, group, event(r.Clock))
		si.onCall, si.alarmErr = nil, errors.New("CloudWatch: no answer")
		if _, err := r.Watch(t.Context(), group, "op2"); err != nil {
			t.Error(err)
		}
		checkTakenOver(t, st, si)
	})
}

// TestSilentRecordAfterPromotion: a record that lets every call hang takes no
// more than the time that the redirect has (R27).
func TestSilentRecordAfterPromotion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, st, si := setup()
		gone := func() bool {
			si.mu.Lock()
			defer si.mu.Unlock()
			return si.promoted > 0
		}
		r.Store = hanging{Store: st, gone: gone}
		start := r.Clock.Now()
		if _, err := r.Run(t.Context(), group, event(r.Clock)); err == nil {
			t.Error("no error, so nobody brings the record up to date")
		}
		if si.owner["rtb-1"] != nodeB.ENI || si.owner["rtb-2"] != nodeB.ENI {
			t.Errorf("routes: %v", si.owner)
		}
		if took := r.Clock.Now().Sub(start); took > 5*time.Minute {
			t.Errorf("it took %s", took)
		}
	})
}

// hanging is a Store whose calls give no answer once it is gone.
type hanging struct {
	Store
	gone func() bool
}

func (h hanging) hang(ctx context.Context) error {
	if !h.gone() {
		return nil
	}
	select {
	case <-ctx.Done():
	case <-time.After(time.Hour):
	}
	return errors.New("no answer")
}

func (h hanging) Load(ctx context.Context, group string) (failover.State, error) {
	if err := h.hang(ctx); err != nil {
		return failover.State{}, err
	}
	return h.Store.Load(ctx, group)
}

func (h hanging) Save(ctx context.Context, prev, next failover.State) error {
	if err := h.hang(ctx); err != nil {
		return err
	}
	return h.Store.Save(ctx, prev, next)
}

func (h hanging) Append(ctx context.Context, group string, e failover.Entry) error {
	if err := h.hang(ctx); err != nil {
		return err
	}
	return h.Store.Append(ctx, group, e)
}

func (h hanging) Node(ctx context.Context, group, node string) (failover.Observation, error) {
	if err := h.hang(ctx); err != nil {
		return failover.Observation{}, err
	}
	return h.Store.Node(ctx, group, node)
}

// TestHangingCallIsBounded: a call to AWS that gives no answer holds nothing up
// for ever; what it did is read (R23).
func TestHangingCallIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, st, si := setup()
		r.Instances = &silentStop{site: si}
		start := r.Clock.Now()
		if _, err := r.Run(t.Context(), group, event(r.Clock)); err != nil {
			t.Fatal(err)
		}
		checkTakenOver(t, st, si)
		if took := r.Clock.Now().Sub(start); took > 2*time.Minute {
			t.Errorf("it took %s", took)
		}
	})
}

// silentStop stops a machine and never says so.
type silentStop struct{ *site }

func (s *silentStop) Stop(ctx context.Context, n failover.NodeConfig) (failover.Outcome, error) {
	_, _ = s.site.Stop(ctx, n)
	<-ctx.Done()
	return failover.Unknown, ctx.Err()
}
