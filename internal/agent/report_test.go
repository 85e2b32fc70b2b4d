package agent

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// Between the claim and the new primary's first renewal the lease is of another
// epoch than the record: the function hears of that operation once, and not at
// every look.
func TestReportsAnOperationOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := standbyHost()
		h.after(31*time.Second, func() {
			h.living, h.view.PartnerLost = false, true
			h.epoch, h.operation = 8, &failover.Operation{ID: "op"}
		})
		run(t, h.agent("b"), 91*time.Second)
		if len(h.reports) != 1 {
			t.Errorf("%d reports of one operation", len(h.reports))
		}
	})
}
