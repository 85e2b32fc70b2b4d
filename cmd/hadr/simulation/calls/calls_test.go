package calls

import (
	"net/http"
	"strings"
	"testing"
)

func post(t *testing.T, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://sandbox.invalid/", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestKey(t *testing.T) {
	key := func(program, body string) uint64 { return Key(program, post(t, body), []byte(body)) }
	one := key("watch", `{"Key":{"pk":"GROUP#orders","sk":"STATE"},"op":"01KB9D2M5Y8Q0F4S6T7V8W9XYZ"}`)
	for name, tt := range map[string]struct {
		program, body string
		same          bool
	}{
		"in another order":     {"watch", `{"op":"01KB9D2M5Y8Q0F4S6T7V8W9XYZ","Key":{"sk":"STATE","pk":"GROUP#orders"}}`, true},
		"another identifier":   {"watch", `{"Key":{"pk":"GROUP#orders","sk":"STATE"},"op":"01KB9D2M5Y8Q0F4S6T7V8W9ABC"}`, true},
		"something else":       {"watch", `{"Key":{"pk":"GROUP#orders","sk":"LEASE"},"op":"01KB9D2M5Y8Q0F4S6T7V8W9XYZ"}`, false},
		"of somebody else":     {"takeover", `{"Key":{"pk":"GROUP#orders","sk":"STATE"},"op":"01KB9D2M5Y8Q0F4S6T7V8W9XYZ"}`, false},
		"without the rest":     {"watch", `{}`, false},
		"with one word doubly": {"watch", `{"Key":{"pk":"GROUP#orders","sk":"STATE","sk2":"STATE"}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := key(tt.program, tt.body); (got == one) != tt.same {
				t.Errorf("the key is the same: %v", got == one)
			}
		})
	}
}

func TestOperation(t *testing.T) {
	for name, tt := range map[string]struct {
		path, target, body string
		want               string
		reads              bool
	}{
		"JSON":  {"/", "DynamoDB_20120810.UpdateItem", `{}`, "UpdateItem", false},
		"query": {"/", "", "Action=DescribeInstances&Version=2016-11-15", "DescribeInstances", true},
		"CBOR":  {"/service/GraniteServiceVersion20100801/operation/PutMetricData", "", "\xa0", "PutMetricData", false},
		"REST":  {"/2015-03-31/functions/takeover/invocations", "", "{}", "POST", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := post(t, tt.body)
			r.URL.Path = tt.path
			if tt.target != "" {
				r.Header.Set("X-Amz-Target", tt.target)
			}
			if got := Operation(r, []byte(tt.body)); got != tt.want || Reads(got) != tt.reads {
				t.Errorf("operation %s, reads %v", got, Reads(got))
			}
		})
	}
}
