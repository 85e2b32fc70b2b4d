package control

import (
	"net/http"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/fault"
)

func (h handler) listFaults(*http.Request) (int, any, error) {
	return http.StatusOK, map[string]any{"faults": h.Faults.List()}, nil
}

func (h handler) inject(r *http.Request) (int, any, error) {
	var f fault.Fault
	if err := decode(r.Body, &f); err != nil {
		return 0, nil, err
	}
	a, err := h.Faults.Inject(r.Context(), f)
	return http.StatusCreated, a, err
}

func (h handler) removeFault(r *http.Request) (int, any, error) {
	return http.StatusNoContent, nil, h.Faults.Remove(r.PathValue("id"))
}

func (h handler) clearFaults(*http.Request) (int, any, error) {
	h.Faults.Clear()
	return http.StatusNoContent, nil, nil
}

type throttling struct {
	On      bool `json:"on"`
	Refused int  `json:"refused"` // calls, since it was switched on
}

func (h handler) throttling(*http.Request) (int, any, error) {
	on, refused := h.Throttling.State()
	return http.StatusOK, throttling{on, refused}, nil
}

func (h handler) switchThrottling(r *http.Request) (int, any, error) {
	var order struct {
		On *bool `json:"on"`
	}
	if err := decode(r.Body, &order); err != nil {
		return 0, nil, err
	}
	if order.On == nil {
		return 0, nil, bad("on", "on: give true or false")
	}
	h.Throttling.Switch(*order.On)
	return h.throttling(r)
}
