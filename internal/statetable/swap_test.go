package statetable

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

const group = "orders"

var config = failover.Config{
	Engine: "db2", Settings: map[string]string{"database": "ORDERS"}, Preferred: "a", VIP: "192.168.10.5", Port: 50000,
	Nodes:  []failover.NodeConfig{{ID: "a", Instance: "i-0a", ENI: "eni-0a"}, {ID: "b", Instance: "i-0b", ENI: "eni-0b"}},
	Routes: []string{"rtb-1", "rtb-2"}, Policy: failover.Automatic, GatherTimeout: 3 * time.Second,
}

// steady is a table with one group that is steady, and what Load says of it.
func steady(t *testing.T) (*Table, *fake, failover.State) {
	t.Helper()
	f := newFake()
	tab := New(f, "hadr", clock.System())
	if err := tab.PutConfig(t.Context(), group, config); err != nil {
		t.Fatal(err)
	}
	initial := failover.State{Epoch: 7, Primary: "a", Phase: failover.Steady, Changed: time.Now().UTC().Add(-time.Hour)}
	if err := tab.CreateState(t.Context(), group, initial); err != nil {
		t.Fatal(err)
	}
	return tab, f, load(t, tab)
}

func load(t *testing.T, tab *Table) failover.State {
	t.Helper()
	s, err := tab.Load(t.Context(), group)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// takingOver is s with the operation id claimed.
func takingOver(s failover.State, id string) failover.State {
	s.Epoch++
	s.Phase = failover.TakingOver
	s.Version++
	s.Operation = &failover.Operation{ID: id, Kind: failover.Takeover, From: "a", To: "b", Step: failover.StepFence, Config: s.Config}
	return s
}

func equal(t *testing.T, want, got failover.State) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
}

// The fates of a claim. A lost answer is looked up in the record; losing a race
// is a conflict; meeting one's own operation is a won claim.
func TestClaim(t *testing.T) {
	future, past := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		name   string
		before func(t *testing.T, tab *Table, f *fake, s failover.State)
		faults []fault // of the writes of STATE, in order
		want   error
		claims bool // the operation is on the record afterwards
	}{
		{name: "nobody else is there", claims: true},
		{name: "R2: the response is lost", faults: []fault{lostResponse}, claims: true},
		{name: "R2: the SDK repeats a write that had worked", faults: []fault{repeated}, claims: true},
		{name: "the request is lost, then arrives", faults: []fault{lostRequest, lostRequest}, claims: true},
		{name: "requests are always lost", faults: []fault{lostRequest, lostRequest, lostRequest, lostRequest}, want: errLost},
		{name: "R11: somebody else was faster", want: control.ErrConflict,
			before: func(t *testing.T, tab *Table, _ *fake, s failover.State) {
				if err := tab.Claim(t.Context(), s, takingOver(s, "other")); err != nil {
					t.Fatal(err)
				}
			}},
		{name: "R11: somebody else was faster and the request is lost", faults: []fault{lostRequest}, want: control.ErrConflict,
			before: func(t *testing.T, tab *Table, _ *fake, s failover.State) {
				if err := tab.Save(t.Context(), s, takingOver(s, "other")); err != nil {
					t.Fatal(err)
				}
			}},
		{name: "R2: my own earlier run claimed, and has gone on since", claims: true,
			before: func(t *testing.T, tab *Table, _ *fake, s failover.State) {
				mine := takingOver(s, "mine")
				if err := tab.Claim(t.Context(), s, mine); err != nil {
					t.Fatal(err)
				}
				if err := tab.Save(t.Context(), mine, mine); err != nil {
					t.Fatal(err)
				}
			}},
		{name: "maintenance without an end", want: control.ErrMaintenance, before: maintain(failover.Maintenance{On: true, Reason: "patches"})},
		{name: "maintenance that still lasts", want: control.ErrMaintenance, before: maintain(failover.Maintenance{On: true, Until: future})},
		{name: "maintenance that has expired is off", claims: true, before: maintain(failover.Maintenance{On: true, Until: past})},
		{name: "maintenance that was ended", claims: true, before: maintain(failover.Maintenance{Reason: "done"})},
		{name: "R11: maintenance toggled by hand a moment ago", want: control.ErrMaintenance,
			before: func(_ *testing.T, _ *Table, f *fake, _ failover.State) {
				f.items["GROUP#orders/STATE"]["maintenance"] = boolean(true)
			}},
		{name: "access is denied", faults: []fault{denied}, want: cmpopts.AnyError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tab, f, prev := steady(t)
				if tt.before != nil {
					tt.before(t, tab, f, prev)
				}
				f.fault = faults("update", "GROUP#orders/STATE", tt.faults)
				err := tab.Claim(t.Context(), prev, takingOver(prev, "mine"))
				switch {
				case tt.want == nil && err != nil, tt.want != nil && err == nil,
					tt.want != nil && tt.want != cmpopts.AnyError && !errors.Is(err, tt.want):
					t.Errorf("Claim: %v, want %v", err, tt.want)
				}
				f.fault = faults("", "", nil)
				now := load(t, tab)
				if got := now.Operation != nil && now.Operation.ID == "mine"; got != tt.claims {
					t.Errorf("operation on the record: %+v, mine: %v, want %v", now.Operation, got, tt.claims)
				}
			})
		})
	}
}

func maintain(m failover.Maintenance) func(*testing.T, *Table, *fake, failover.State) {
	return func(t *testing.T, tab *Table, _ *fake, _ failover.State) {
		if err := tab.SetMaintenance(t.Context(), group, m); err != nil {
			t.Fatal(err)
		}
	}
}

// faults deals out fates to the calls that match.
func faults(op, key string, fates []fault) func(string, string) fault {
	return func(o, k string) fault {
		if o != op || k != key || len(fates) == 0 {
			return works
		}
		now := fates[0]
		fates = fates[1:]
		return now
	}
}

// R24: maintenance does not stop an operation that runs. R11: the operation
// does not erase maintenance.
func TestSaveLeavesMaintenanceToPeople(t *testing.T) {
	tab, _, prev := steady(t)
	claimed := takingOver(prev, "mine")
	if err := tab.Claim(t.Context(), prev, claimed); err != nil {
		t.Fatal(err)
	}
	m := failover.Maintenance{On: true, Until: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), Reason: "patches"}
	if err := tab.SetMaintenance(t.Context(), group, m); err != nil {
		t.Fatal(err)
	}
	done := claimed
	done.Primary, done.Phase, done.Operation, done.Version = "b", failover.Steady, nil, claimed.Version+1
	done.Fenced = map[string]failover.Fence{"a": {Epoch: 8, Method: "stop", Groups: []string{"sg-1"}, Confirmed: true}}
	if err := tab.Save(t.Context(), claimed, done); err != nil {
		t.Fatal(err)
	}
	done.Maintenance = m
	equal(t, done, load(t, tab))
}

// Attributes that somebody added by hand survive every write.
func TestSaveLeavesForeignAttributesAlone(t *testing.T) {
	tab, f, prev := steady(t)
	f.items["GROUP#orders/STATE"]["note"] = str("call Ann first")
	if err := tab.Save(t.Context(), prev, takingOver(prev, "x")); err != nil {
		t.Fatal(err)
	}
	if got := text(f.items["GROUP#orders/STATE"]["note"]); got != "call Ann first" {
		t.Errorf("note = %q", got)
	}
}

func TestClaimTellsHowToEndMaintenance(t *testing.T) {
	tab, _, prev := steady(t)
	maintain(failover.Maintenance{On: true, Reason: "patches"})(t, tab, nil, prev)
	err := tab.Claim(t.Context(), prev, takingOver(prev, "mine"))
	for _, want := range []string{"orders", "patches", "maintenance = false", "GROUP#orders/STATE"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}

// The fates of a save. There is no operation to recognise oneself by: the
// token of the write tells one's own from somebody else's.
func TestSave(t *testing.T) {
	other := func(t *testing.T, tab *Table, s failover.State) {
		s.Cooldown = time.Now().UTC()
		if err := tab.Save(t.Context(), s, s); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name   string
		before func(*testing.T, *Table, failover.State)
		faults []fault
		want   error
	}{
		{name: "nobody else is there"},
		{name: "the response is lost", faults: []fault{lostResponse}},
		{name: "the SDK repeats a write that had worked", faults: []fault{repeated}},
		{name: "the request is lost", faults: []fault{lostRequest}},
		{name: "R11: somebody saved, with nothing changed but the version", before: other, want: control.ErrConflict},
		{name: "R11: the same, and the request is lost", before: other, faults: []fault{lostRequest}, want: control.ErrConflict},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tab, f, prev := steady(t)
				if tt.before != nil {
					tt.before(t, tab, prev)
				}
				f.fault = faults("update", "GROUP#orders/STATE", tt.faults)
				next := prev
				next.Version++
				next.Fenced = map[string]failover.Fence{"a": {Epoch: 7, Method: "stop"}}
				if err := tab.Save(t.Context(), prev, next); !errors.Is(err, tt.want) {
					t.Fatalf("Save: %v, want %v", err, tt.want)
				}
				if tt.want == nil {
					equal(t, next, load(t, tab))
				}
			})
		})
	}
}

// Every attribute that the core keeps comes back, and one that it empties goes.
func TestSaveKeepsAll(t *testing.T) {
	tab, _, prev := steady(t)
	at := time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC)
	next := takingOver(prev, "op1")
	next.Fenced = map[string]failover.Fence{"a": {Epoch: 8, Method: "stop", At: at, Confirmed: true}}
	next.Cooldown, next.Changed, next.Ended = at, at, []string{"op-1", "op0"}
	next.Refused = failover.Refusal{Guard: failover.GuardEvidence, At: at}
	next.Operation.Promotions, next.Operation.Starts, next.Operation.Promoting = 2, 3, at
	if err := tab.Save(t.Context(), prev, next); err != nil {
		t.Fatal(err)
	}
	equal(t, next, load(t, tab))
	bare := prev
	bare.Version = next.Version + 1
	if err := tab.Save(t.Context(), next, bare); err != nil {
		t.Fatal(err)
	}
	equal(t, bare, load(t, tab))
}
