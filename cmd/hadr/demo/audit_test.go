package demo

import (
	"testing"
	"time"
)

// TestJudge: the audit must see everything that may never happen.
func TestJudge(t *testing.T) {
	at := time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC)
	ack := func(seq int, node string, position uint64) Ack {
		return Ack{Client: "c", Seq: seq, Node: node, Position: position, At: at.Add(time.Duration(seq) * time.Second)}
	}
	row := func(seq int) Row { return Row{Client: "c", Seq: seq, Position: uint64(seq)} }
	tests := []struct {
		name                 string
		acks                 []Ack
		rows                 []Row
		lost, double, forked int
	}{
		{"nothing written", nil, nil, 0, 0, 0},
		{"all kept over a takeover", []Ack{ack(1, "a", 1), ack(2, "b", 2)}, []Row{row(1), row(2)}, 0, 0, 0},
		{"a row that was not acknowledged may be there", []Ack{ack(1, "a", 1)}, []Row{row(1), row(2)}, 0, 0, 0},
		{"the last one is lost", []Ack{ack(1, "a", 1), ack(2, "a", 2)}, []Row{row(1)}, 1, 0, 0},
		{"all are lost", []Ack{ack(1, "a", 1), ack(2, "a", 2)}, nil, 2, 0, 0},
		{"a row stands twice", []Ack{ack(1, "a", 1)}, []Row{row(1), row(1)}, 0, 1, 0},
		{"acknowledged by both", []Ack{ack(1, "a", 1), ack(1, "b", 9)}, []Row{row(1)}, 0, 1, 0},
		{"two writers at one position", []Ack{ack(1, "a", 7), ack(2, "b", 7)}, []Row{row(1), row(2)}, 0, 0, 1},
		{"one node numbers a position once for two paths", []Ack{ack(1, "a", 7), ack(2, "a", 7)}, []Row{row(1), row(2)}, 0, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Judge(tt.acks, tt.rows)
			if got.Lost != tt.lost || got.Double != tt.double || got.Forked != tt.forked {
				t.Errorf("lost %d, double %d, forked %d; want %d, %d, %d (%v)", got.Lost, got.Double, got.Forked, tt.lost, tt.double, tt.forked, got.Examples)
			}
			if got.Clean() != (tt.lost+tt.double+tt.forked == 0) {
				t.Errorf("Clean = %v", got.Clean())
			}
		})
	}
}

func TestParseAck(t *testing.T) {
	if node, position, err := parseAck("ACK db2-a 4711\n"); node != "db2-a" || position != 4711 || err != nil {
		t.Errorf("parseAck = %q, %d, %v", node, position, err)
	}
	for _, bad := range []string{"", "ACK\n", "ACK a\n", "ACK a x\n", "ERR SQL1032N\n", "ACK a 1 2\n"} {
		if _, _, err := parseAck(bad); err == nil {
			t.Errorf("parseAck(%q) succeeds", bad)
		}
	}
}
