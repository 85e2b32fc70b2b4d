package statetable

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

func leaseItem(t *testing.T, l Lease) item {
	t.Helper()
	m, err := encode(l)
	must(t, err)
	m["pk"], m["sk"], m["counter"] = str("GROUP#orders"), str("LEASE"), number(l.Counter)
	return m
}

// TestRenewLease: who holds a lease renews it until it is sealed, whatever
// becomes of the answers.
func TestRenewLease(t *testing.T) {
	const k = "GROUP#orders/LEASE"
	next := Lease{Holder: "a", Epoch: 7, Counter: 42}
	held := Lease{Holder: "a", Epoch: 7, Counter: 41}
	tests := []struct {
		name  string
		lease *Lease
		fault []fault
		next  Lease
		err   string // "" = renewed
		lost  bool
	}{
		{name: "there is none yet", next: Lease{Holder: "a", Epoch: 7, Counter: 1}},
		{name: "held", lease: &held, next: next},
		{name: "held, by one whose commits take long", lease: &held, next: Lease{Holder: "a", Epoch: 7, Counter: 42, Slow: true}},
		{name: "held, and waiting for the standby (R4)", lease: &held, next: Lease{Holder: "a", Epoch: 7, Counter: 42, WaitingForStandby: true}},
		{name: "held, and suspended (R6)", lease: &held, next: Lease{Holder: "a", Epoch: 7, Counter: 42, Suspended: "db2stop"}},
		{name: "no longer suspended", lease: &Lease{Holder: "a", Epoch: 7, Counter: 41, Suspended: "db2stop"}, next: next},
		{name: "sealed: it can't be renewed (R10)", lease: &Lease{Holder: "a", Epoch: 7, Counter: 41, Sealed: true, SealedBy: "op"}, next: next, err: `sealed true by "op"`, lost: true},
		{name: "sealed in an older epoch: the new primary's", lease: &Lease{Holder: "b", Epoch: 6, Counter: 9, Sealed: true, SealedBy: "op"}, next: Lease{Holder: "a", Epoch: 7, Counter: 1}},
		{name: "of a newer epoch", lease: &Lease{Holder: "b", Epoch: 8, Counter: 1}, next: next, err: "held by \"b\" in epoch 8", lost: true},
		{name: "another node's", lease: &Lease{Holder: "b", Epoch: 7, Counter: 41}, next: next, err: `held by "b"`, lost: true},
		{name: "another agent of the node renews it", lease: &Lease{Holder: "a", Epoch: 7, Counter: 50}, next: next, err: "somebody else renews it"},
		{name: "the response is lost", lease: &held, fault: []fault{lostResponse}, next: next},
		{name: "the SDK repeats it", lease: &held, fault: []fault{repeated}, next: next},
		{name: "the request is lost", lease: &held, fault: []fault{lostRequest}, next: next, err: errLost.Error()},
		{name: "the first one ever is lost", fault: []fault{lostRequest}, next: Lease{Holder: "a", Epoch: 7, Counter: 1}, err: errLost.Error()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tab, f := empty()
			if tt.lease != nil {
				f.items[k] = leaseItem(t, *tt.lease)
			}
			if tt.fault != nil {
				f.fault = faults("update", k, tt.fault)
			}
			err := tab.RenewLease(t.Context(), group, tt.next)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || errors.Is(err, ErrLeaseLost) != tt.lost {
					t.Errorf("error %v, want %q, lost %v", err, tt.err, tt.lost)
				}
				return
			}
			must(t, err)
			if got, err := tab.ReadLease(t.Context(), group); err != nil || got != tt.next {
				t.Errorf("lease %+v, %v; want %+v", got, err, tt.next)
			}
		})
	}
}

// TestSealSeen (R10): a lease that was seen to stand still is sealed where it
// was seen, or not at all.
func TestSealSeen(t *testing.T) {
	seen := Lease{Holder: "a", Epoch: 7, Counter: 41}
	tests := []struct {
		name   string
		lease  Lease
		fault  []fault
		sealed bool
		why    string
	}{
		{name: "it stands where it was seen", lease: seen, sealed: true},
		{name: "it was renewed between the look and the seal", lease: Lease{Holder: "a", Epoch: 7, Counter: 42}, why: "renewed its lease meanwhile"},
		{name: "it belongs to a newer epoch", lease: Lease{Holder: "b", Epoch: 8, Counter: 1}, why: "renewed its lease meanwhile"},
		{name: "an earlier delivery sealed it", lease: Lease{Holder: "a", Epoch: 7, Counter: 41, Sealed: true, SealedBy: "op"}, sealed: true},
		{name: "the response is lost", lease: seen, fault: []fault{lostResponse}, sealed: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tab, f := empty()
			f.items["GROUP#orders/LEASE"] = leaseItem(t, tt.lease)
			f.fault = faults("update", "GROUP#orders/LEASE", tt.fault)
			sealed, why, err := tab.SealSeen(t.Context(), group, seen, "op")
			if err != nil || sealed != tt.sealed || !strings.Contains(why, tt.why) {
				t.Errorf("SealSeen = %v, %q, %v; want %v, %q", sealed, why, err, tt.sealed, tt.why)
			}
			if err := tab.RenewLease(t.Context(), group, Lease{Holder: "a", Epoch: 7, Counter: 42}); sealed && !errors.Is(err, ErrLeaseLost) {
				t.Errorf("a sealed lease was renewed: %v", err)
			}
		})
	}
}

// answers counts the calls that a fake of DynamoDB gets.
type answers struct {
	*fake
	reads int
}

func (a *answers) GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	a.reads++
	return a.fake.GetItem(ctx, in, opts...)
}

// A renewal that is answered costs one write and no read.
func TestRenewLeaseReadsNothingBack(t *testing.T) {
	a := &answers{fake: newFake()}
	tab := New(a, "hadr", clock.System())
	for counter := uint64(1); counter <= 3; counter++ {
		must(t, tab.RenewLease(t.Context(), group, Lease{Holder: "a", Epoch: 1, Counter: counter}))
	}
	if a.reads != 0 {
		t.Errorf("%d reads", a.reads)
	}
}
