package demo

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

func TestIncompleteHistory(t *testing.T) {
	started := failover.Entry{OperationID: "1", Event: "started", Reason: "takeover"}
	ended := failover.Entry{OperationID: "1", Event: "ended", Reason: "done"}
	tests := []struct {
		name    string
		history []failover.Entry
		running *failover.Operation
		want    string // "" = complete
	}{
		{"started and ended", []failover.Entry{started, ended}, nil, ""},
		{"refused with a next command", []failover.Entry{{OperationID: "2", Event: "refused", Reason: "window", Next: "hadr status"}}, nil, ""},
		{"blocked and still on the record", []failover.Entry{started, {OperationID: "1", Event: "blocked", Reason: "denied", Next: "hadr resume"}}, &failover.Operation{ID: "1"}, ""},
		{"no end", []failover.Entry{started}, nil, "has no end"},
		{"no end, while another operation runs", []failover.Entry{started}, &failover.Operation{ID: "2"}, "has no end"},
		{"no start", []failover.Entry{ended}, nil, "never started"},
		{"two ends", []failover.Entry{started, ended, ended}, nil, "ended 2 times"},
		{"refused without a next command", []failover.Entry{{OperationID: "2", Event: "refused", Reason: "window"}}, nil, "without a next command"},
		{"no reason", []failover.Entry{{OperationID: "2", Event: "ignored"}}, nil, "gives no reason"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(Incomplete(tt.history, tt.running), "; ")
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("gaps %q, want %q", got, tt.want)
			}
		})
	}
}

func TestLongestPause(t *testing.T) {
	from := time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC)
	after := func(seconds ...int) (acks []Ack) {
		for _, s := range seconds {
			acks = append(acks, Ack{At: from.Add(time.Duration(s) * time.Second)})
		}
		return acks
	}
	at, pause := longestPause(after(-5, 20, 1, 2, 21), from)
	if diff := cmp.Diff(from.Add(2*time.Second), at); diff != "" || pause != 18*time.Second {
		t.Errorf("pause %s at %s", pause, at)
	}
}
