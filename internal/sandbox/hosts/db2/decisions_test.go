package db2_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/db2"
)

// decisionRow is a row of testdata/takeover_matrix.json: what a controller
// orders in a standing of the pair.
type decisionRow struct {
	ID, Kind, Decision string
	Command            *string
	Given              struct {
		State    string       `json:"standby_state"`
		Connect  string       `json:"connect_status"`
		SyncMode db2.SyncMode `json:"syncmode"`
		Left     *int         `json:"seconds_to_peer_window_end"`
		Primary  string       `json:"primary"`
	}
}

// afterwards are the orders that follow a takeover: what leads to them, the
// node that gets the order and the command as Db2 takes it.
var afterwards = map[string]struct {
	leads   func(x *pair)
	node    func(*pair) *node
	command string
}{
	"D32": {func(x *pair) { takenOver(x); x.a.boot() }, a, "start hadr on db SAMPLE as standby"},
	"D33": {func(x *pair) { takenOver(x); x.a.boot(); x.a.db2(4, "activate db SAMPLE") }, a, "start hadr on db SAMPLE as standby"},
	"D34": {func(x *pair) { takenOver(x); x.b.crash(); x.b.start(); x.b.db2(4, "activate db SAMPLE") }, b, "start hadr on db SAMPLE as primary by force"},
	"D38": {func(x *pair) {
		takenOver(x)
		x.b.crash()
		x.a.boot()
		x.b.start()
		for _, n := range []*node{x.a, x.b} {
			if got := n.db2(0, "get db cfg for SAMPLE"); !strings.Contains(got, "HADR database role = PRIMARY") {
				x.t.Errorf("role on the disk of %s: %s", n.name, got)
			}
		}
		x.b.db2(0, "start hadr on db SAMPLE as primary by force")
	}, a, "start hadr on db SAMPLE as standby"},
}

// Two standbys that nobody can tell apart: a plain takeover that breaks just
// after the primary gave its role away. The simulator's primary does both at
// once.
const notPlayed = "D37"

func takenOver(x *pair) {
	inPeer(x)
	x.a.vanish()
	x.b.db2(0, force+" peer window only")
}

// What a controller orders is what Db2 carries out: the pair serves, and no
// acknowledged commit is lost.
func TestOrdersOfAController(t *testing.T) {
	text, err := os.ReadFile("testdata/takeover_matrix.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Rows []decisionRow }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	played := 0
	for _, r := range file.Rows {
		after, later := afterwards[r.ID]
		if r.Kind != "decision" || r.ID == notPlayed || (r.Command == nil && !later) {
			continue
		}
		played++
		t.Run(r.ID, func(t *testing.T) {
			p := db2.Pair{SyncMode: r.Given.SyncMode, PeerWindow: 300 * time.Second, Timeout: 60 * time.Second}
			silent := r.Given.Connect == "CONNECTED" && r.Given.Primary == "dead_proven"
			if silent {
				p.Timeout = 400 * time.Second // the standby has not noticed yet
			}
			inBubble(t, p, func(t *testing.T, x *pair) {
				if later {
					after.leads(x)
					after.node(x).db2(0, after.command)
					x.b.waitFor(map[bool]db2.State{true: db2.Disconnected, false: db2.Peer}[r.ID == "D34"], 30*time.Second)
					if got := x.b.pd()["HADR_ROLE"]; got != "PRIMARY" {
						t.Errorf("the recorded primary is %s", got)
					}
					return
				}
				m := matrixRow{State: r.Given.State, Connect: r.Given.Connect, SyncMode: r.Given.SyncMode, Left: r.Given.Left}
				if silent {
					m.Really = "silent_dead"
				}
				acked := bring(x, m)
				x.b.db2(0, strings.Replace(strings.ToLower(*r.Command), "takeover", takeover, 1))
				if got := x.b.pd()["HADR_ROLE"]; got != "PRIMARY" {
					t.Errorf("role %s", got)
				}
				if lost := x.b.lost("c", acked); len(lost) > 0 {
					t.Errorf("lost %v", lost)
				}
			})
		})
	}
	if played < 8 {
		t.Errorf("only %d orders were played", played)
	}
}
