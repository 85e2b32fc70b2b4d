package db2_test

import (
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/db2"
)

// scene is how a pair comes to print as a sample does.
type scene struct {
	pair   db2.Pair
	spool  string // HADR_SPOOL_LIMIT of both
	on     string // the node that prints: a is the primary at first
	plays  func(x *pair)
	args   []string // of db2pd
	killed bool     // db2pd is, before it prints
	// other are keys whose form or presence differs from the sample, and why.
	other map[string]string
}

// own is the pair of the samples that were made for the parsers.
var own = db2.Pair{PeerWindow: 300 * time.Second, Timeout: 60 * time.Second}

func ownWith(change func(*db2.Pair)) db2.Pair {
	p := own
	change(&p)
	return p
}

func inPeer(x *pair) {
	x.up()
	x.b.waitFor(db2.Peer, 10*time.Second)
	x.a.waitFor(db2.Peer, 10*time.Second)
	time.Sleep(40 * time.Second)
}

// left waits until a number of seconds is left of the standby's window.
func (x *pair) left(seconds int64) {
	x.b.waitFor(db2.DisconnectedPeer, 100*time.Second)
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
	for x.b.epoch("PEER_WINDOW_END")-time.Now().Unix() > seconds {
		time.Sleep(time.Second)
	}
}

const (
	stale     = "The last known values of a partner stay until the next activation; the sample guesses that they are forgotten."
	byName    = "A standby knows its primary's name once it has connected; the sample takes it from the configuration."
	uncounted = "The sample counts none, although some were missed before the connection ended."
	flag      = "The empty line of flags is that of 11.1, which has no line for the last takeover."
)

var scenes = map[string]scene{
	"R01": {on: "a", plays: inPeer, pair: db2.Pair{PeerWindow: 300 * time.Second, Timeout: 120 * time.Second, Heartbeat: 5 * time.Second, Locale: "en_GB"}},
	"R02": {on: "a", plays: inPeer, pair: db2.Pair{Version: db2.V111, PeerWindow: 300 * time.Second, Timeout: 30 * time.Second}, other: map[string]string{
		"HEARTBEAT_MISSED": "A link that loses some heartbeats and not the connection."}},
	"R03": {on: "b", plays: inPeer, pair: db2.Pair{Version: db2.V111, PeerWindow: 1000 * time.Second, Timeout: 30 * time.Second}},
	"R04": {on: "a", plays: inPeer, spool: "0", pair: db2.Pair{Version: db2.V105}},
	"R05": {on: "a", plays: inPeer, spool: "0", pair: db2.Pair{Version: db2.V105, SyncMode: db2.Sync, Timeout: 100 * time.Second, ReadsOnStandby: true}},
	"R15": {on: "b", pair: own, plays: func(x *pair) { x.b.start() }},
	"R16": {on: "b", pair: own, plays: func(*pair) {}},
	"R18": {on: "a", pair: own, plays: func(x *pair) {
		inPeer(x)
		x.a.db2(0, "stop hadr on db SAMPLE")
	}},
	"S01": {on: "b", pair: own, plays: inPeer},
	"S02": {on: "a", pair: own, plays: inPeer},
	"S03": {on: "b", pair: own, plays: func(x *pair) {
		inPeer(x)
		x.a.vanish()
		x.left(220)
	}},
	"S04": {on: "b", pair: own, plays: func(x *pair) {
		inPeer(x)
		x.a.vanish()
		x.left(5)
	}, other: map[string]string{"HEARTBEAT_MISSED": uncounted}},
	"S05": {on: "b", pair: own, plays: func(x *pair) {
		inPeer(x)
		x.a.vanish()
		x.left(4)
	}, other: map[string]string{"HEARTBEAT_MISSED": uncounted}},
	"S06": {on: "b", pair: own, plays: func(x *pair) {
		inPeer(x)
		x.fab.CutBoth("a", "b")
		x.b.waitFor(db2.RemoteCatchupPending, 400*time.Second)
		time.Sleep(100 * time.Second)
	}, other: map[string]string{"HEARTBEAT_MISSED": uncounted}},
	"S07": {on: "b", pair: own, plays: func(x *pair) {
		x.b.start()
		x.b.db2(0, "activate db SAMPLE")
		time.Sleep(30 * time.Second)
	}},
	"S09": {on: "a", pair: own, plays: func(x *pair) {
		inPeer(x)
		x.b.crash()
		x.a.waitFor(db2.Disconnected, 400*time.Second)
	}, other: map[string]string{
		"STANDBY_LOG_FILE,PAGE,POS": stale, "HADR_LOG_GAP(bytes)": stale, "STANDBY_REPLAY_LOG_FILE,PAGE,POS": stale,
		"STANDBY_RECV_REPLAY_GAP(bytes)": stale, "STANDBY_LOG_TIME": stale, "STANDBY_REPLAY_LOG_TIME": stale,
		"STANDBY_RECV_BUF_PERCENT": stale, "STANDBY_SPOOL_PERCENT": stale,
	}},
	"S10": {on: "a", pair: own, plays: func(x *pair) {
		inPeer(x)
		x.b.crash()
		w := x.a.write("c")
		time.Sleep(time.Second)
		x.then(func() { w.stop() })
	}},
	"S11": {on: "a", pair: own, plays: func(x *pair) {
		inPeer(x)
		x.fab.Congest("a", "b", true)
		w := x.a.write("c")
		time.Sleep(8 * time.Second)
		x.then(func() { w.stop() })
	}},
	"S13": {on: "b", pair: ownWith(func(p *db2.Pair) { p.ReplayDelay = time.Minute }), plays: func(x *pair) {
		x.up()
		x.b.waitFor(db2.RemoteCatchup, 10*time.Second)
		w := x.a.write("c")
		time.Sleep(10 * time.Second)
		x.then(func() { w.stop() })
	}},
	"S14": {on: "b", pair: ownWith(func(p *db2.Pair) { p.SyncMode, p.PeerWindow = db2.SuperAsync, 0 }), plays: func(x *pair) {
		x.up()
		time.Sleep(40 * time.Second)
	}},
	"S19": {on: "b", plays: inPeer, pair: ownWith(func(p *db2.Pair) { p.Locale = "de_DE" })},
	"S20": {on: "b", plays: inPeer, pair: ownWith(func(p *db2.Pair) { p.Locale = "ja_JP" })},
	"S22": {on: "b", plays: inPeer, pair: ownWith(func(p *db2.Pair) { p.Version = db2.V105 }), other: map[string]string{
		"header": "The sample's header has the date of 11.x."}},
	"S23": {on: "a", pair: own, plays: func(x *pair) {
		inPeer(x)
		x.b.vanish()
		time.Sleep(40 * time.Second)
	}},
	"S24": {on: "b", pair: own, plays: func(x *pair) {
		inPeer(x)
		x.a.vanish()
		time.Sleep(40 * time.Second)
	}},
	"S25": {on: "b", pair: ownWith(func(p *db2.Pair) { p.LocalCatchup = time.Minute }), plays: func(x *pair) {
		x.b.start()
		x.b.db2(0, "activate db SAMPLE")
		time.Sleep(30 * time.Second)
	}, other: map[string]string{"PRIMARY_MEMBER_HOST": byName, "PRIMARY_INSTANCE": byName, "PRIMARY_MEMBER": byName}},
	"S26": {on: "a", pair: ownWith(func(p *db2.Pair) { p.LocalCatchup = time.Minute }), plays: func(x *pair) {
		x.up()
		x.a.waitFor(db2.Peer, 2*time.Minute)
		x.b.crash()
		x.a.waitFor(db2.Disconnected, 400*time.Second)
		x.b.start()
		x.b.db2(0, "activate db SAMPLE")
		time.Sleep(40 * time.Second)
	}},
	"S27": {on: "b", pair: own, plays: func(x *pair) {
		inPeer(x)
		x.b.fillLogDevice(true)
	}},
	"S29": {on: "b", pair: own, plays: func(x *pair) {
		inPeer(x)
		x.fab.Congest("a", "b", true) // the primary has log to ship first
		w := x.a.write("c")
		time.Sleep(time.Second)
		took := make(chan struct{})
		go func() {
			defer close(took)
			x.b.run("takeover hadr on db SAMPLE")
		}()
		time.Sleep(time.Second)
		x.then(func() {
			x.fab.Congest("a", "b", false)
			<-took
			w.stop()
		})
	}},
	"S31": {on: "b", plays: inPeer, pair: ownWith(func(p *db2.Pair) { p.Version = db2.V111 }), other: map[string]string{"HADR_LAST_TAKEOVER_TIME": flag}},
	"S38": {on: "b", plays: inPeer, spool: "-1", pair: own},
	"S41": {on: "b", pair: own, plays: inPeer, killed: true},
	"S45": {on: "b", pair: own, args: []string{"-alldbs", "-hadr"}, plays: func(x *pair) {
		second := own
		second.Database, second.HADRPort = "ZULU", 50020
		if err := second.Create(x.b.side(), x.a.side()); err != nil {
			x.t.Fatal(err)
		}
		inPeer(x)
		x.a.db2(0, "activate db ZULU")
		x.b.db2(0, "activate db ZULU")
		time.Sleep(40 * time.Second)
	}},
	"S47": {on: "b", pair: own, plays: func(x *pair) {
		inPeer(x)
		x.a.vanish()
		x.b.db2(0, force+" peer window only")
		time.Sleep(20 * time.Second)
	}},
}

// unreachable are the samples that no simulated pair prints.
var unreachable = map[string]string{
	"R06": "The layout of 9.7, which is older than every version that is simulated.",
	"R07": "pureScale.",
	"R08": "pureScale.",
	"R09": "pureScale.",
	"R11": "pureScale.",
	"R14": "pureScale.",
	"R17": "A race inside db2pd.",
	"R19": "An auxiliary standby; SUPERASYNC itself is S14.",
	"S16": "Three standbys.",
	"S18": "Line ends of another system.",
	"S30": "What needs a replay-only window is replayed in no time; the lines around it are R05.",
	"S33": "A login's banner, which is not db2pd's.",
	"S34": "A state and a field that do not exist.",
	"S35": "Dates without an epoch, which no version prints.",
	"S37": "The primary tells its position with every log record, not by heartbeats only.",
	"S39": "An output that was cut on its way.",
	"S43": "A race inside db2pd.",
	"S44": "Another program's text.",
}
