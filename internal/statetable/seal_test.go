package statetable

import (
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// TestUnseal: a seal is taken off if it is still the one on the lease.
func TestUnseal(t *testing.T) {
	const k = "GROUP#orders/LEASE"
	tests := []struct {
		name   string
		before func(*Table) // after the first seal
		faults []fault
		sealed bool
		err    bool
	}{
		{name: "nobody has sealed it since"},
		{name: "it is off already", before: func(tab *Table) { must(t, tab.Unseal(t.Context(), group, idOf(t, tab))) }},
		{name: "another operation has sealed it since", before: func(tab *Table) { seal(t, tab, "op2") }, sealed: true},
		{name: "the same operation has sealed it again", before: func(tab *Table) { seal(t, tab, "op1") }, sealed: true},
		{name: "the response is lost", faults: []fault{lostResponse}, err: true},
		{name: "the SDK repeats it", faults: []fault{repeated}},
		{name: "the request is lost", faults: []fault{lostRequest}, sealed: true, err: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tab, f := empty()
			must(t, tab.RenewLease(t.Context(), group, Lease{Holder: "a", Epoch: 7, Counter: 1}))
			seal(t, tab, "op1")
			id := idOf(t, tab)
			if tt.before != nil {
				tt.before(tab)
			}
			if tt.faults != nil {
				f.fault = faults("update", k, tt.faults)
			}
			if err := tab.Unseal(t.Context(), group, id); (err != nil) != tt.err {
				t.Errorf("Unseal = %v, want an error: %v", err, tt.err)
			}
			l, err := tab.ReadLease(t.Context(), group)
			if err != nil || l.Sealed != tt.sealed || l.Counter != 1 || !l.Sealed && l.SealID+l.SealedBy != "" {
				t.Errorf("lease %+v, %v; want sealed %v", l, err, tt.sealed)
			}
			err = tab.RenewLease(t.Context(), group, Lease{Holder: "a", Epoch: 7, Counter: 2})
			if errors.Is(err, ErrLeaseLost) != tt.sealed {
				t.Errorf("RenewLease = %v, want it lost: %v", err, tt.sealed)
			}
		})
	}
}

func seal(t *testing.T, tab *Table, operation string) bool {
	t.Helper()
	sealed, _, err := tab.Seal(t.Context(), group, "a", 7, operation)
	must(t, err)
	return sealed
}

func idOf(t *testing.T, tab *Table) string {
	t.Helper()
	l, err := tab.ReadLease(t.Context(), group)
	must(t, err)
	return l.SealID
}

// actor is somebody at work on a group: each of its steps is one effect, and it
// may die after any of them.
type actor []func()

// taker takes over as a runner does: it reads the record, seals, claims. Where
// the lease can't be sealed it gives up.
func taker(t *testing.T, tab *Table, operation string, claimed func()) actor {
	var s failover.State
	sealed := false
	return actor{
		func() { s = load(t, tab) },
		func() { sealed = s.Operation == nil && s.Epoch == 7 && seal(t, tab, operation) },
		func() {
			if sealed && tab.Claim(t.Context(), s, takingOver(s, operation)) == nil {
				claimed()
			}
		},
	}
}

// look is the minutely one, a minute after whatever was sealed.
func look(t *testing.T, tab *Table) actor {
	var s, next failover.State
	var effects []failover.Effect
	return actor{
		func() {
			s = load(t, tab)
			l, err := tab.ReadLease(t.Context(), group)
			must(t, err)
			next, effects = failover.Step(s, failover.Watched{At: time.Now().Add(time.Minute), Lease: l})
		},
		func() {
			if next.VoidSeal != s.VoidSeal && tab.Save(t.Context(), s, next) != nil {
				effects = nil // somebody else was faster
			}
		},
		func() {
			for _, e := range effects {
				if u, ok := e.(failover.Unseal); ok {
					must(t, tab.Unseal(t.Context(), group, u.SealID))
				}
			}
		},
	}
}

// interleave calls visit with every order of the actors' steps, each of which
// may end early. The first two are alike: the one with number 0 begins.
func interleave(left []int, order []int, visit func(order []int)) {
	visit(order)
	for i, n := range left {
		if n == 0 || i == 1 && left[0] == 3 {
			continue
		}
		left[i]--
		interleave(left, append(order[:len(order):len(order)], i), visit)
		left[i]++
	}
}

// TestNoClaimWithoutSeal (R10): two runners and two looks, in every order of
// their steps and with every one dying anywhere. Whenever a group is claimed its
// lease can't be renewed any more; and where nobody has claimed it, the next
// looks see to it that its healthy holder can.
func TestNoClaimWithoutSeal(t *testing.T) {
	orders := 0
	_, f, _ := steady(t)
	before := f.items
	interleave([]int{3, 3, 3}, nil, func(order []int) {
		orders++
		f.items, f.log = maps.Clone(before), nil
		tab := New(f, "hadr", clock.System())
		counter := uint64(1)
		must(t, tab.RenewLease(t.Context(), group, Lease{Holder: "a", Epoch: 7, Counter: counter}))
		renew := func() error {
			err := tab.RenewLease(t.Context(), group, Lease{Holder: "a", Epoch: 7, Counter: counter + 1})
			if err == nil {
				counter++
			}
			return err
		}
		claims := 0
		claimed := func() {
			if claims++; claims > 1 {
				t.Errorf("%v: claimed twice", order)
			}
			if renew() == nil {
				t.Errorf("%v: the group is claimed, and its lease is renewed after that", order)
			}
		}
		actors := []actor{taker(t, tab, "op1", claimed), taker(t, tab, "op2", claimed), look(t, tab)}
		at := make([]int, len(actors))
		for _, i := range order {
			actors[i][at[i]]()
			at[i]++
		}
		for range 2 {
			for _, step := range look(t, tab) {
				step()
			}
		}
		if err := renew(); (err == nil) != (claims == 0) {
			t.Errorf("%v: %d claims, and in the end a renewal gives %v", order, claims, err)
		}
		for i := range 2 { // whoever was only frozen wakes up now
			for ; at[i] < len(actors[i]); at[i]++ {
				actors[i][at[i]]()
			}
		}
	})
	if orders < 840 {
		t.Errorf("only %d orders", orders)
	}
}
