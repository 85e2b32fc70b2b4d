package agent

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// While its role is moved, the old primary is the recorded one in the epoch of
// its successor. It makes no lease there: only who is primary in the end has one.
func TestOldPrimaryLeavesTheLeaseOfItsSuccessorAlone(t *testing.T) {
	for _, stays := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			h := leasedHost()
			h.after(31*time.Second, func() {
				h.lease.Sealed = true
				h.epoch, h.operation = 8, &failover.Operation{ID: "op", Kind: failover.Switchover, From: "a", To: "b"}
			})
			h.after(60*time.Second, func() {
				if h.lease.Epoch != 7 {
					t.Errorf("lease during the switchover: %+v", h.lease)
				}
				h.operation = nil
				if !stays {
					h.primary, h.view.Role = "b", failover.RoleStandby
				}
			})
			measure(t, h, 2*time.Minute)
			if renewed := h.lease.Epoch == 8; renewed != stays {
				t.Errorf("stays primary %v, lease %+v", stays, h.lease)
			}
		})
	}
}
