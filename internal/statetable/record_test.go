package statetable

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/oklog/ulid/v2"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

func empty() (*Table, *fake) {
	f := newFake()
	return New(f, "hadr", clock.System()), f
}

func TestLoadWithoutGroup(t *testing.T) {
	tab, _ := empty()
	if _, err := tab.Load(t.Context(), "nobody"); !errors.Is(err, control.ErrNotFound) || !strings.Contains(err.Error(), "hadr_group") {
		t.Errorf("Load: %v, want not found, and the resource that creates it", err)
	}
}

// Terraform creates a state, but never decides who is primary again.
func TestCreateStateNeverOverwrites(t *testing.T) {
	tab, _, before := steady(t)
	err := tab.CreateState(t.Context(), group, failover.State{Epoch: 1, Primary: "b", Phase: failover.Steady})
	if !errors.Is(err, ErrExists) {
		t.Errorf("CreateState over a state: %v", err)
	}
	equal(t, before, load(t, tab))
}

func TestCreateStateWithLostResponse(t *testing.T) {
	tab, f := empty()
	f.fault = faults("put", "GROUP#orders/STATE", []fault{lostResponse})
	if err := tab.CreateState(t.Context(), group, failover.State{Epoch: 1, Primary: "a"}); err != nil {
		t.Errorf("CreateState: %v", err)
	}
}

// R13: a change of the configuration waits for the operation that works on a
// snapshot of the present one. A blocked operation waits for a human.
func TestPutConfigAndDeleteGroupWhileAnOperationRuns(t *testing.T) {
	tab, _, s := steady(t)
	running := takingOver(s, "op")
	if err := tab.Claim(t.Context(), s, running); err != nil {
		t.Fatal(err)
	}
	if err := tab.PutConfig(t.Context(), group, config); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "fence") {
		t.Errorf("PutConfig: %v, want busy, and the step", err)
	}
	if err := tab.DeleteGroup(t.Context(), group, false); !errors.Is(err, ErrBusy) {
		t.Errorf("DeleteGroup: %v, want busy", err)
	}
	blocked := running
	blocked.Phase = failover.Blocked
	if err := tab.Save(t.Context(), running, blocked); err != nil {
		t.Fatal(err)
	}
	if err := tab.PutConfig(t.Context(), group, config); err != nil {
		t.Errorf("PutConfig while blocked: %v", err)
	}
	if err := tab.DeleteGroup(t.Context(), group, false); err != nil {
		t.Errorf("DeleteGroup while blocked: %v", err)
	}
}

// An operation that ends just when it has kept a group from being deleted leaves
// an error that says so.
func TestDeleteGroupWhileAnOperationEnds(t *testing.T) {
	const key = "GROUP#orders/STATE"
	tab, f, s := steady(t)
	ended := maps.Clone(f.items[key])
	must(t, tab.Claim(t.Context(), s, takingOver(s, "op")))
	f.fault = func(call, k string) fault {
		if call == "get" && k == key {
			f.items[key] = ended
		}
		return works
	}
	err := tab.DeleteGroup(t.Context(), group, false)
	if !errors.Is(err, ErrBusy) || strings.Contains(err.Error(), "%!") || !strings.Contains(err.Error(), "again") {
		t.Errorf("DeleteGroup: %v", err)
	}
	must(t, tab.DeleteGroup(t.Context(), group, false))
}

func TestDeleteGroupKeepsHistoryAndProbes(t *testing.T) {
	for _, force := range []bool{false, true} {
		t.Run(fmt.Sprint("force ", force), func(t *testing.T) {
			tab, f, s := steady(t)
			must(t, tab.BindAlarms(t.Context(), group, "a", []string{"arn:x", "arn:y", "arn:z"}))
			must(t, tab.PutProbe(t.Context(), Probe{Group: group, Node: "a", Metric: "SQLLatency"}))
			must(t, tab.PutNode(t.Context(), group, failover.Observation{Node: "a", ReadAt: time.Now()}))
			must(t, tab.Append(t.Context(), group, failover.Entry{At: time.Now(), Event: "ended", Epoch: 7}))
			must(t, tab.BindAlarms(t.Context(), "invoices", "a", []string{"arn:other"}))
			if force {
				must(t, tab.Claim(t.Context(), s, takingOver(s, "op")))
			}
			must(t, tab.DeleteGroup(t.Context(), group, force))
			var left []string
			for k := range f.items {
				if !strings.Contains(k, "invoices") && !strings.Contains(k, "arn:other") && !strings.Contains(k, "/OP#") && !strings.Contains(k, "/PROBE#") {
					left = append(left, k)
				}
			}
			if len(left) > 0 {
				t.Errorf("left over: %v", left)
			}
			if h, err := tab.History(t.Context(), group, 0); err != nil || len(h) != 1 {
				t.Errorf("history: %v, %v", h, err)
			}
			if _, err := tab.ReadProbe(t.Context(), group, "a"); err != nil {
				t.Errorf("probe: %v", err)
			}
		})
	}
}

// However often a deletion is interrupted, something tells of what is left, and the next one goes on.
func TestDeleteGroupGoesOnAfterAnInterruption(t *testing.T) {
	for _, fate := range []fault{lostRequest, lostResponse, denied} {
		for call, broke := 1, true; broke; call++ {
			t.Run(fmt.Sprintf("fault %d of call %d", fate, call), func(t *testing.T) {
				tab, f, s := steady(t)
				must(t, tab.Append(t.Context(), group, failover.Entry{At: time.Now(), Event: "removing", Epoch: s.Epoch}))
				must(t, tab.PutNode(t.Context(), group, failover.Observation{Node: "a", ReadAt: time.Now()}))
				must(t, tab.BindAlarms(t.Context(), group, "a", []string{"arn:x", "arn:y"}))
				calls := 0
				f.fault = func(string, string) fault {
					if calls++; calls == call {
						return fate
					}
					return works
				}
				err := tab.DeleteGroup(t.Context(), group, false)
				f.fault = func(string, string) fault { return works }
				if broke = err != nil; !broke && calls >= call {
					t.Fatalf("no error, although call %d of %v broke", call, f.log)
				}
				told, err := tab.Left(t.Context(), group)
				must(t, err)
				if there := remains(f); (len(told) > 0) != (len(there) > 0) {
					t.Errorf("Left tells of %v, and there is %v", told, there)
				}
				must(t, tab.DeleteGroup(t.Context(), group, false))
				if there := remains(f); len(there) > 0 {
					t.Errorf("the second deletion leaves %v", there)
				}
				must(t, tab.BindAlarms(t.Context(), "invoices", "a", []string{"arn:x", "arn:y"}))
				if h, err := tab.History(t.Context(), group, 0); err != nil || len(h) != 1 || h[0].Epoch != s.Epoch {
					t.Errorf("history: %v, %v", h, err)
				}
			})
		}
	}
}

// remains are the keys of all that a deleted group must not leave.
func remains(f *fake) []string {
	var there []string
	for k := range f.items {
		if !strings.Contains(k, "/OP#") {
			there = append(there, k)
		}
	}
	slices.Sort(there)
	return there
}

// A binding whose copy under the group was not written any more is unbound with it.
func TestDeleteGroupFindsEveryBinding(t *testing.T) {
	tab, f, _ := steady(t)
	f.fault = faults("put", "GROUP#orders/ALARM#arn:x", []fault{lostRequest})
	if err := tab.BindAlarms(t.Context(), group, "a", []string{"arn:x"}); err == nil {
		t.Fatal("BindAlarms: no error")
	}
	must(t, tab.DeleteGroup(t.Context(), group, false))
	must(t, tab.BindAlarms(t.Context(), "invoices", "b", []string{"arn:x"}))
}

// A group that was not created to its end has a state, and Load finds nothing of it.
func TestLoadStateOfAPart(t *testing.T) {
	tab, _ := empty()
	must(t, tab.CreateState(t.Context(), group, failover.State{Epoch: 7, Primary: "a", Phase: failover.Steady}))
	if _, err := tab.Load(t.Context(), group); !errors.Is(err, control.ErrNotFound) {
		t.Errorf("Load: %v", err)
	}
	if s, err := tab.LoadState(t.Context(), group); err != nil || s.Epoch != 7 || s.Primary != "a" {
		t.Errorf("LoadState: %+v, %v", s, err)
	}
	if left, err := tab.Left(t.Context(), group); err != nil || !slices.Equal(left, []string{"STATE"}) {
		t.Errorf("Left: %v, %v", left, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// R1: an alarm speaks of one node of one group.
func TestBindings(t *testing.T) {
	tab, _ := empty()
	must(t, tab.BindAlarms(t.Context(), group, "a", []string{"arn:2", "arn:1"}))
	must(t, tab.BindAlarms(t.Context(), group, "a", []string{"arn:1"})) // again
	must(t, tab.BindAlarms(t.Context(), group, "b", []string{"arn:3"}))
	if g, n, err := tab.Binding(t.Context(), "arn:1"); g != group || n != "a" || err != nil {
		t.Errorf("Binding = %s, %s, %v", g, n, err)
	}
	if _, _, err := tab.Binding(t.Context(), "arn:of:nobody"); !errors.Is(err, control.ErrNotFound) {
		t.Errorf("Binding of nobody: %v", err)
	}
	for _, other := range [][2]string{{"invoices", "a"}, {group, "b"}} {
		err := tab.BindAlarms(t.Context(), other[0], other[1], []string{"arn:1"})
		if !errors.Is(err, ErrBound) || !strings.Contains(err.Error(), `node "a" of group "orders"`) {
			t.Errorf("binding to %v: %v", other, err)
		}
	}
	got, err := tab.ReadAlarms(t.Context(), group)
	if diff := cmp.Diff(map[string][]string{"a": {"arn:1", "arn:2"}, "b": {"arn:3"}}, got); diff != "" || err != nil {
		t.Errorf("ReadAlarms: %v\n%s", err, diff)
	}
	must(t, tab.UnbindAlarms(t.Context(), "invoices", []string{"arn:1"})) // not theirs: stays
	if _, _, err := tab.Binding(t.Context(), "arn:1"); err != nil {
		t.Errorf("another group unbound the alarm: %v", err)
	}
	must(t, tab.UnbindAlarms(t.Context(), group, []string{"arn:1"}))
	if _, _, err := tab.Binding(t.Context(), "arn:1"); !errors.Is(err, control.ErrNotFound) {
		t.Errorf("after unbinding: %v", err)
	}
}

// R2: a redelivery learns the operation of the first delivery.
func TestSee(t *testing.T) {
	at := time.Date(2026, 3, 2, 10, 0, 0, 123456789, time.UTC)
	tab, f := empty()
	for i, id := range []string{"first", "second"} {
		if i == 0 {
			f.fault = faults("put", "SEEN#arn#2026-03-02T10:00:00.123456789Z/SEEN", []fault{lostResponse})
		}
		got, err := tab.See(t.Context(), "arn", at, id, at.Add(time.Hour))
		if got != "first" || err != nil {
			t.Errorf("See(%s) = %s, %v", id, got, err)
		}
	}
	if got, _ := tab.See(t.Context(), "arn", at.Add(time.Millisecond), "third", at.Add(time.Hour)); got != "third" {
		t.Errorf("another change of state belongs to %s", got)
	}
}

// R10: who has sealed a lease knows that it is not renewed any more.
func TestSeal(t *testing.T) {
	lease := func(l Lease) item { return leaseItem(t, l) }
	held := Lease{Holder: "a", Epoch: 7, Counter: 41}
	becomes := func(l Lease) func(*fake) func(string, string) fault {
		return func(f *fake) func(string, string) fault {
			return func(op, _ string) fault {
				if op == "update" {
					f.items["GROUP#orders/LEASE"] = lease(l)
				}
				return works
			}
		}
	}
	tests := []struct {
		name   string
		lease  *Lease
		faults func(*fake) func(string, string) fault
		sealed bool
		why    string
	}{
		{name: "there is no lease: one is created sealed", sealed: true},
		{name: "the lease is held", lease: &held, sealed: true},
		{name: "it is renewed meanwhile", lease: &held, faults: becomes(Lease{Holder: "a", Epoch: 7, Counter: 42}), why: "renewed"},
		{name: "there is no lease, and another operation creates it meanwhile", faults: becomes(Lease{Holder: "a", Epoch: 7, Sealed: true, SealedBy: "other"}), why: "operation other sealed it"},
		{name: "it was sealed by an earlier operation of this epoch", lease: &Lease{Holder: "a", Epoch: 7, Sealed: true, SealedBy: "earlier"}, sealed: true},
		{name: "it is of an older epoch", lease: &Lease{Holder: "b", Epoch: 6, Counter: 9, Sealed: true}, sealed: true},
		{name: "it is of a newer epoch", lease: &Lease{Holder: "b", Epoch: 8}, why: "newer"},
		{name: "it is another node's", lease: &Lease{Holder: "b", Epoch: 7}, why: `belongs to "b"`},
		{name: "the response is lost", lease: &held, sealed: true,
			faults: func(*fake) func(string, string) fault {
				return faults("update", "GROUP#orders/LEASE", []fault{lostResponse})
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tab, f := empty()
			if tt.lease != nil {
				f.items["GROUP#orders/LEASE"] = lease(*tt.lease)
			}
			if tt.faults != nil {
				f.fault = tt.faults(f)
			}
			sealed, why, err := tab.Seal(t.Context(), group, "a", 7, "op")
			if err != nil || sealed != tt.sealed || !strings.Contains(why, tt.why) {
				t.Fatalf("Seal = %v, %q, %v; want %v, %q", sealed, why, err, tt.sealed, tt.why)
			}
			if !sealed {
				return
			}
			l, err := tab.ReadLease(t.Context(), group)
			if err != nil || !l.Sealed || l.Epoch != 7 {
				t.Errorf("lease %+v, %v", l, err)
			}
		})
	}
}

func TestHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tab, f := empty()
		first, second := newULID(time.Now()), newULID(time.Now().Add(time.Second))
		add := func(id, event string) {
			t.Helper()
			must(t, tab.Append(t.Context(), group, failover.Entry{At: time.Now(), OperationID: id, Event: event}))
		}
		add(first, "started")
		f.fault = faults("put", "GROUP#orders/OP#"+first+"#0002", []fault{lostResponse})
		add(first, "step")
		// Told late, by a runner that found another step.
		must(t, tab.Append(t.Context(), group, failover.Entry{At: time.Now(), OperationID: first, Event: "started", Step: failover.StepFence}))
		blocked := failover.Entry{At: time.Now(), OperationID: first, Event: "blocked", Reason: "the stop hangs"}
		must(t, tab.Append(t.Context(), group, blocked))
		add(first, "refused")                            // a person's word that does not end it
		must(t, tab.Append(t.Context(), group, blocked)) // told again, by a runner that is late
		blocked.At = blocked.At.Add(time.Minute)
		must(t, tab.Append(t.Context(), group, blocked)) // by the same, later
		f.fault = faults("put", "GROUP#orders/OP#"+first+"#0006", []fault{lostRequest})
		add(first, "ended")
		time.Sleep(time.Minute)
		add(first, "ended")   // told again, by a runner that took over from a dead one
		add(first, "ignored") // its event, delivered again
		must(t, tab.Append(t.Context(), group, failover.Entry{At: time.Now(), OperationID: first, Event: "ended", Reason: "told by another runner"}))
		add("", "ignored") // without an operation: stands alone, in its time
		add(second, "refused")

		entries, err := tab.History(t.Context(), group, 0)
		must(t, err)
		var got []string
		for _, e := range entries {
			got = append(got, e.Event)
		}
		if diff := cmp.Diff([]string{"ignored", "refused", "ignored", "ended", "blocked", "refused", "blocked", "step", "started"}, got); diff != "" {
			t.Errorf("history, newest first (-want +got):\n%s", diff)
		}
		two, err := tab.History(t.Context(), group, 2)
		if len(two) != 2 || err != nil {
			t.Errorf("History of 2 = %v, %v", two, err)
		}
	})
}

func TestUnknownKeepsThePayloadWithinLimits(t *testing.T) {
	tab, f := empty()
	must(t, tab.Unknown(t.Context(), failover.Entry{At: time.Now(), Event: "ignored"}, []byte(strings.Repeat("x", maxPayload+1))))
	if len(f.items) != 1 {
		t.Errorf("%d items", len(f.items))
	}
	for k, it := range f.items {
		id, ok := strings.CutPrefix(k, "UNKNOWN/")
		if _, err := ulid.ParseStrict(id); !ok || err != nil {
			t.Errorf("key %s", k)
		}
		if n := len(text(it["payload"])); n != maxPayload {
			t.Errorf("payload of %d bytes", n)
		}
	}
}

func TestNodeRecordsDoNotGoBack(t *testing.T) {
	tab, _ := empty()
	newer := failover.Observation{Node: "a", Source: "agent", ReadAt: time.Date(2026, 3, 2, 10, 0, 5, 0, time.UTC), Role: failover.RolePrimary}
	older := newer
	older.ReadAt, older.Role = newer.ReadAt.Add(-5*time.Second), failover.RoleStandby
	for _, o := range []failover.Observation{newer, older} {
		must(t, tab.PutNode(t.Context(), group, o))
	}
	got, err := tab.Node(t.Context(), group, "a")
	if diff := cmp.Diff(newer, got); diff != "" || err != nil {
		t.Errorf("node: %v (-want +got):\n%s", err, diff)
	}
	if _, err := tab.Node(t.Context(), group, "b"); !errors.Is(err, control.ErrNotFound) {
		t.Errorf("node without a record: %v", err)
	}
}

func TestProbe(t *testing.T) {
	tab, _ := empty()
	p := Probe{Group: group, Node: "a", Namespace: "HADR", Metric: "SQLLatency", Interval: 20 * time.Second, Timeout: 19 * time.Second, Threshold: 20 * time.Second, Sentinel: 60 * time.Second}
	must(t, tab.PutProbe(t.Context(), p))
	got, err := tab.ReadProbe(t.Context(), group, "a")
	if diff := cmp.Diff(p, got); diff != "" || err != nil {
		t.Errorf("probe: %v (-want +got):\n%s", err, diff)
	}
	must(t, tab.DeleteProbe(t.Context(), group, "a"))
	if _, err := tab.ReadProbe(t.Context(), group, "a"); !errors.Is(err, control.ErrNotFound) {
		t.Errorf("after deletion: %v", err)
	}
}

func TestListGroups(t *testing.T) {
	tab, _ := empty()
	for _, g := range []string{"orders", "billing"} {
		must(t, tab.PutConfig(t.Context(), g, config))
		must(t, tab.CreateState(t.Context(), g, failover.State{Primary: "a"}))
	}
	must(t, tab.PutConfig(t.Context(), "half-made", config))
	got, err := tab.ListGroups(t.Context())
	if diff := cmp.Diff([]string{"billing", "orders"}, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Errorf("groups: %v\n%s", err, diff)
	}
}

func TestMaintenanceOfNobody(t *testing.T) {
	tab, f := empty()
	if err := tab.SetMaintenance(t.Context(), "nobody", failover.Maintenance{On: true}); !errors.Is(err, control.ErrNotFound) {
		t.Errorf("SetMaintenance: %v", err)
	}
	if len(f.items) != 0 {
		t.Errorf("it created %v", f.items)
	}
}
