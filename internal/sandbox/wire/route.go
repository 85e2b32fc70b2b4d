package wire

import (
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// route finds out what a request is: its protocol from its form, its service
// from its target, its path or its signature, and its operation.
func (s *Server) route(r *http.Request, sc scope, body []byte) *call {
	c := &call{http: r, body: body}
	contentType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	target := r.Header.Get("X-Amz-Target")
	switch {
	case r.Header.Get("Smithy-Protocol") == "rpc-v2-cbor":
		c.protocol = CBOR
		s.routeRPC(c)
	case target != "":
		c.protocol = JSON11
		if contentType == "application/x-amz-json-1.0" {
			c.protocol = JSON10
		}
		prefix, name := target, ""
		if i := strings.LastIndexByte(target, '.'); i >= 0 {
			prefix, name = target[:i], target[i+1:]
		}
		c.service, c.operation = s.byTarget(prefix), name
		if c.service == nil {
			c.operation = target
		}
	case contentType == "application/x-www-form-urlencoded" || r.URL.Query().Has("Action"):
		s.routeQuery(c, sc)
	default:
		s.routeREST(c, sc)
	}
	if c.service != nil && c.op == nil {
		c.op = c.service.ops[c.operation]
	}
	return c
}

// routeRPC reads /service/NAME/operation/NAME.
func (s *Server) routeRPC(c *call) {
	p := segments(c.http.URL.Path)
	n := len(p)
	if n < 4 || p[n-4] != "service" || p[n-2] != "operation" {
		c.operation = c.http.URL.Path
		return
	}
	c.service, c.operation = s.byTarget(p[n-3]), p[n-1]
}

func (s *Server) routeQuery(c *call, sc scope) {
	c.protocol = Query
	q, err := url.ParseQuery(string(c.body))
	if err == nil {
		for k, v := range c.http.URL.Query() {
			q[k] = append(q[k], v...)
		}
		c.form, err = parseForm(q)
	}
	c.operation = q.Get("Action")
	c.service = s.byName(sc.service, q.Get("Version"))
	if c.service != nil && c.service.Default == EC2Query {
		c.protocol = EC2Query
	}
	c.err = err
}

// routeREST looks for the path in the services of the signature's name, or in
// all of them if the request is not signed.
func (s *Server) routeREST(c *call, sc scope) {
	c.protocol = RestJSON
	c.operation = c.http.Method + " " + c.http.URL.Path
	best := -1
	for _, svc := range s.all() {
		if svc.Default != RestJSON && svc.Default != RestXML || sc.service != "" && svc.Name != sc.service {
			continue
		}
		if best < 0 {
			c.service, c.protocol = svc, svc.Default
		}
		for _, op := range svc.ops {
			if op.path == nil {
				continue
			}
			if labels, score, ok := op.path.match(c.http); ok && score > best {
				best = score
				c.service, c.protocol, c.op, c.operation, c.labels = svc, svc.Default, op, op.name, labels
			}
		}
	}
	if c.service == nil {
		c.err = errNoProtocol
	}
}
