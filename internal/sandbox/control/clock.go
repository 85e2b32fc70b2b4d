package control

import (
	"context"
	"net/http"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/fault"
)

// longestAdvance bounds one step: every second of it costs work.
const longestAdvance = 31 * 24 * time.Hour

type clockState struct {
	Now   time.Time `json:"now"`
	Mode  string    `json:"mode"` // manual, or running by itself
	Speed float64   `json:"speed,omitempty"`
}

func (h handler) clock(*http.Request) (int, any, error) {
	s := clockState{Now: h.Clock.Now(), Mode: "running", Speed: 1}
	switch c := h.Clock.(type) {
	case *clock.Manual:
		s.Mode, s.Speed = "manual", 0
	case *clock.Scaled:
		s.Speed = c.Speed()
	}
	return http.StatusOK, s, nil
}

// advance moves a manual clock and answers when everything due has happened.
func (h handler) advance(r *http.Request) (int, any, error) {
	var order struct {
		Advance *fault.Duration `json:"advance"`
	}
	if err := decode(r.Body, &order); err != nil {
		return 0, nil, err
	}
	if order.Advance == nil {
		return 0, nil, bad("advance", `advance: give a duration, such as "60s"`)
	}
	switch d := time.Duration(*order.Advance); {
	case d < 0:
		return 0, nil, bad("advance", "advance: %s is negative, and time does not run backwards", d)
	case d > longestAdvance:
		return 0, nil, bad("advance", "advance: %s is more than %s in one step", d, longestAdvance)
	}
	m, ok := h.Clock.(*clock.Manual)
	if !ok {
		return 0, nil, &problem{status: http.StatusConflict, text: "this sandbox's clock runs by itself: start it with --clock manual"}
	}
	if err := m.Advance(r.Context(), time.Duration(*order.Advance)); err != nil {
		return 0, nil, err
	}
	return h.clock(r)
}

// wait answers when some time has passed: the sleep of functions in processes
// of their own, which take their time from here.
func (h handler) wait(r *http.Request) (int, any, error) {
	var order struct {
		For *fault.Duration `json:"for"`
	}
	if err := decode(r.Body, &order); err != nil {
		return 0, nil, err
	}
	if order.For == nil {
		return 0, nil, bad("for", `for: give a duration, such as "5s"`)
	}
	if err := h.Clock.Sleep(r.Context(), time.Duration(*order.For)); err != nil {
		return 0, nil, context.Cause(r.Context())
	}
	return h.clock(r)
}
