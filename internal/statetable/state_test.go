package statetable

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// TestStateKeepsAllThatIsKept: what the core or a runner puts on the state is there
// for whoever reads the record, unless the state says that it is never kept.
func TestStateKeepsAllThatIsKept(t *testing.T) {
	tab, _, s := steady(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	next := s
	next.Epoch, next.Primary, next.Phase = s.Epoch+1, "b", failover.TakingOver
	start := failover.Entry{At: at, OperationID: "op0", Event: "started", Reason: "r"}
	next.Operation = &failover.Operation{ID: "op1", Kind: failover.Takeover, From: "a", To: "b", Replaced: &failover.Replaced{ID: "op0", Start: &start}}
	next.Fenced = map[string]failover.Fence{"a": {Epoch: 8, Method: "stop", At: at}}
	next.Cooldown, next.Changed, next.ClaimsWait, next.Attended = at, at, at, at
	next.Refused = failover.Refusal{Guard: failover.GuardWindow, At: at}
	next.Pending = &failover.Pending{Epoch: 8, Expires: at}
	next.Ended, next.VoidSeal = []string{"op0"}, "seal"
	next.Word, next.Start = &failover.Entry{At: at, Event: "ended", Reason: "r"}, &start

	elsewhere := []string{"Group", "Config", "Maintenance", "Version", "Off", "Manual", "Attempt"}
	for f, v := range reflect.ValueOf(next).Fields() {
		if !slices.Contains(elsewhere, f.Name) && v.IsZero() {
			t.Errorf("this test does not set State.%s", f.Name)
		}
	}
	must(t, tab.Save(t.Context(), s, next))
	if diff := cmp.Diff(next, load(t, tab), cmpopts.IgnoreFields(failover.State{}, "Version"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("on the record (-written +read):\n%s", diff)
	}
}
