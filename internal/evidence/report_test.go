package evidence

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseReport(t *testing.T) {
	good := Report{Source: SourceAgent, Version: 1, Group: "orders", Node: "a", Evidence: []Item{
		{Source: "agent b", Node: "a", Kind: "lease_expired", Value: "counter 41 of epoch 7 for 6.1s", ObservedAt: now},
	}}
	tests := []struct {
		name   string
		change func(*Report)
		err    string
	}{
		{"an agent's", func(*Report) {}, ""},
		{"watch's", func(r *Report) { r.Source = SourceWatch }, ""},
		{"without evidence", func(r *Report) { r.Evidence = nil }, ""},
		{"a newer version", func(r *Report) { r.Version = 2 }, "has version 2"},
		{"no group", func(r *Report) { r.Group = "" }, "names no group"},
		{"no node", func(r *Report) { r.Node = "" }, "names no group or no node"},
		{"somebody else's", func(r *Report) { r.Source = "aws.cloudwatch" }, ErrNoReport.Error()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := good
			tt.change(&want)
			payload, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			got, err := ParseReport(payload)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
		})
	}
	if want := "hadr.agent: agent b says lease_expired: counter 41 of epoch 7 for 6.1s"; good.Reason() != want {
		t.Errorf("reason %q, want %q", good.Reason(), want)
	}
}

func FuzzParseReport(f *testing.F) {
	f.Add([]byte(`{"source":"hadr.agent","version":1,"group":"orders","node":"a","evidence":[{"observed_at":"2026-03-02T10:00:00Z"}]}`))
	f.Add([]byte(`{"source":"hadr.agent","version":"1"}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		r, err := ParseReport(payload)
		if err == nil && (r.Group == "" || r.Node == "" || r.Version != ReportVersion) {
			t.Errorf("accepted %+v", r)
		}
		if err != nil && !errors.Is(err, ErrNoReport) && r.Group != "" {
			t.Errorf("an error with a report: %+v", r)
		}
	})
}
