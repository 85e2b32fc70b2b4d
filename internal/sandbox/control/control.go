// Package control is the sandbox's own HTTP interface, under /_sandbox/: faults,
// throttling and the clock. It is for tests and people on the same machine.
package control

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/fault"
)

// Path is where the interface begins.
const Path = "/_sandbox/"

// Throttling counts calls while it is switched on.
type Throttling interface {
	Switch(on bool)
	State() (on bool, refused int)
}

// Options are what the interface moves.
type Options struct {
	Faults     fault.Injector
	Throttling Throttling
	Clock      clock.Clock // a *clock.Manual can be advanced
}

// Handler serves the interface to loopback clients.
func Handler(o Options) http.Handler {
	h := handler{o}
	mux := http.NewServeMux()
	routes := []struct {
		pattern string
		serve   func(*http.Request) (int, any, error)
	}{
		{"GET /_sandbox/{$}", h.overview},
		{"GET /_sandbox/faults", h.listFaults},
		{"POST /_sandbox/faults", h.inject},
		{"DELETE /_sandbox/faults", h.clearFaults},
		{"DELETE /_sandbox/faults/{id}", h.removeFault},
		{"GET /_sandbox/throttling", h.throttling},
		{"POST /_sandbox/throttling", h.switchThrottling},
		{"GET /_sandbox/clock", h.clock},
		{"POST /_sandbox/clock", h.advance},
		{"POST /_sandbox/clock/wait", h.wait},
		{Path, h.nothing},
	}
	for _, r := range routes {
		mux.HandleFunc(r.pattern, func(w http.ResponseWriter, q *http.Request) {
			q.Body = http.MaxBytesReader(w, q.Body, maxBody)
			status, v, err := r.serve(q)
			if err != nil {
				status, v = refusal(err)
			}
			answer(w, status, v)
		})
	}
	return local(mux)
}

type handler struct{ Options }

// problem is an error with its HTTP status.
type problem struct {
	status int
	field  string
	text   string
}

func (p *problem) Error() string { return p.text }

type explanation struct {
	Error string `json:"error"`
	Field string `json:"field,omitempty"` // of the request's JSON
}

func refusal(err error) (int, explanation) {
	var p *problem
	var invalid *fault.Invalid
	switch {
	case errors.As(err, &p):
		return p.status, explanation{p.text, p.field}
	case errors.As(err, &invalid):
		return http.StatusBadRequest, explanation{invalid.Error(), invalid.Field}
	case errors.Is(err, fault.ErrUnknown):
		return http.StatusNotFound, explanation{Error: err.Error()}
	}
	return http.StatusConflict, explanation{Error: err.Error()}
}

func answer(w http.ResponseWriter, status int, v any) {
	if status == http.StatusNoContent {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // a client that went away needs no answer
}

// local refuses requests from other machines, and those that a web page makes a
// browser on this machine send: by their origin, or by a name that the page's
// owner points at the loopback address.
func local(next http.Handler) http.Handler {
	guarded := http.NewCrossOriginProtection()
	guarded.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusForbidden, explanation{Error: "the sandbox takes no orders from web pages"})
	}))
	inner := guarded.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// In process there is no address, and the host is a name that resolves to
		// nothing.
		if r.RemoteAddr != "" && !(loopback(r.RemoteAddr) && loopback(r.Host)) {
			answer(w, http.StatusForbidden, explanation{Error: "the sandbox takes orders on the loopback interface only, such as http://127.0.0.1:4566" + Path})
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// loopback reports whether a host, with or without a port, is this machine.
func loopback(host string) bool {
	name := (&url.URL{Host: host}).Hostname()
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// paths are what there is, for people who look around.
var paths = []string{
	"GET /_sandbox/", "GET /_sandbox/faults", "POST /_sandbox/faults", "DELETE /_sandbox/faults", "DELETE /_sandbox/faults/ID",
	"GET /_sandbox/throttling", "POST /_sandbox/throttling", "GET /_sandbox/clock", "POST /_sandbox/clock",
}

func (h handler) overview(*http.Request) (int, any, error) {
	return http.StatusOK, map[string]any{"paths": paths, "faults": fault.Kinds()}, nil
}

func (h handler) nothing(r *http.Request) (int, any, error) {
	return 0, nil, &problem{status: http.StatusNotFound, text: "there is no " + r.Method + " " + r.URL.Path + "; there are " + strings.Join(paths, ", ")}
}
