package db2_test

import (
	"bytes"
	"context"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/db2"
)

const takeover = "takeover hadr on db SAMPLE"

func instanceA(x *pair) { x.a.start() }
func instanceB(x *pair) { x.b.start() }

// silence makes the primary vanish; the standby has not noticed yet.
func silence(x *pair) { x.a.vanish() }

func windowOver(x *pair) {
	x.a.vanish()
	x.b.waitFor(db2.RemoteCatchupPending, 400*time.Second)
}

var replies = map[string]reply{
	"C01": {pair: own, plays: ask(b, takeover, inPeer)},
	"C02": {pair: own, plays: ask(a, "start hadr on db SAMPLE as standby", inPeer, silence, do(b, force+" peer window only"), func(x *pair) { x.a.boot() })},
	"C06": {pair: own, plays: func(x *pair) (string, int) { return x.a.db2start() }},
	"C08": {pair: own, plays: func(x *pair) (string, int) {
		x.a.start()
		return x.a.db2start()
	}},
	"C09": {pair: own, plays: ask(a, "activate db SAMPLE", inPeer)},
	"C10": {pair: own, plays: ask(a, "activate db SAMPLE", instanceA, instanceB, do(b, "activate db SAMPLE"), do(a, "connect to SAMPLE"))},
	"C13": {pair: ownWith(func(p *db2.Pair) { p.NoIndexBuild = true }), plays: ask(a, "start hadr on db SAMPLE as primary",
		instanceA, instanceB, do(b, "activate db SAMPLE"))},
	"C14": {pair: own, plays: ask(b, "start hadr on db SAMPLE as standby", inPeer)},
	"C15": {pair: own, plays: ask(b, takeover, inPeer, silence)},
	"C16": {pair: own, plays: ask(b, force+" peer window only", inPeer, windowOver)},
	"C22": {pair: own, plays: ask(b, takeover, inPeer, windowOver)},
	"C24": {pair: own, plays: ask(b, "-v "+force+" peer window only", inPeer, windowOver)},
	"C25": {pair: own, plays: ask(a, "activate db SAMPLE", instanceA)},
	"C28": {pair: own, plays: ask(a, "activate db SAMPLE", instanceA, do(a, "update db cfg for SAMPLE using HADR_REMOTE_HOST NULL"))},
	"C29": {pair: own, plays: ask(a, "activate db SAMPLE", instanceA, func(x *pair) {
		time.AfterFunc(5*time.Second, func() { x.a.run("deactivate db SAMPLE") })
	})},
	"C32": {pair: own, cut: " Reason code", plays: func(x *pair) (string, int) {
		text, code := ask(a, "start hadr on db SAMPLE as standby", inPeer)(x)
		return strings.TrimSuffix(text, "\n"), code
	}},
	"C33": {pair: own, plays: ask(b, "stop hadr on db SAMPLE", inPeer)},
	"C34": {pair: own, plays: ask(b, "connect to SAMPLE", inPeer)},
	"C36": {pair: own, plays: ask(a, "activate db SAMPLE", inPeer, do(b, force), wait(time.Second))},
	"C38": {pair: ownWith(func(p *db2.Pair) { p.ReadsOnStandby = true }), plays: func(x *pair) (string, int) {
		inPeer(x)
		text, code := x.b.between("connect to SAMPLE;", func() {}, "update HAPROBE.BEAT set SEQ=SEQ+1 where NODE='a';")
		_, text, _ = strings.Cut(text, "SAMPLE\n\n")
		return text, code
	}},
	"C39": {pair: own, plays: ask(a, "activate db SAMPLE")},
	"C41": {pair: ownWith(func(p *db2.Pair) { p.Locale = "en_GB" }), plays: func(x *pair) (string, int) {
		var out bytes.Buffer
		code := db2.Stop(context.Background(), x.a.env(&out, ""))
		return out.String(), code
	}},
	"C42": {pair: own, plays: ask(b, "connect to SAMPLE", instanceB, do(b, "stop hadr on db SAMPLE"))},
	"C46": {pair: own, plays: func(x *pair) (string, int) {
		inPeer(x)
		text, code := x.a.between("connect to SAMPLE;", func() { x.b.db2(0, takeover) }, "commit;")
		_, text, _ = strings.Cut(text, "SAMPLE\n\n")
		return text, code
	}},
	"C47": {pair: own, plays: func(x *pair) (string, int) {
		inPeer(x)
		const update = "update HAPROBE.BEAT set SEQ=SEQ+1 where NODE='a';"
		var got string
		var code int
		env := x.a.env(&bytes.Buffer{}, "") // of who holds the lock
		env.Stdin = &pausedInput{first: "connect to SAMPLE; " + update + "\n", rest: "commit;\n", pause: func() {
			var out bytes.Buffer
			code = db2.CLP(context.Background(), x.a.env(&out, "connect to SAMPLE; set current lock timeout 3; "+update), []string{"-t"})
			_, got, _ = strings.Cut(out.String(), "SQL command completed successfully.\n")
		}}
		db2.CLP(context.Background(), env, []string{"-t", "+c"})
		return got, code
	}},
	"C49": {pair: own, plays: ask(a, "connect reset", inPeer)},
	"C50": {pair: own, plays: ask(a, "connect to NOSUCH", inPeer)},
	"C52": {pair: own, plays: func(x *pair) (string, int) {
		inPeer(x)
		x.a.vanish()
		ctx, kill := context.WithTimeout(context.Background(), 10*time.Second)
		defer kill()
		var out bytes.Buffer
		code := db2.CLP(ctx, x.b.env(&out, ""), strings.Fields(takeover))
		return out.String(), code
	}},
	"C57": {pair: own, plays: func(x *pair) (string, int) {
		inPeer(x)
		var out bytes.Buffer
		code := db2.CLP(context.Background(), x.a.env(&out, "connect to SAMPLE; select * from DB2ADMIN.MYJOBINSTANCEDATA1;"), []string{"-t"})
		_, text, _ := strings.Cut(out.String(), "SAMPLE\n\n")
		return text, code
	}},
	"G01": {only: "HADR", plays: ask(a, "get db cfg for SAMPLE", instanceA, configured)},
	"G03": {only: "HADR", plays: ask(a, "get db cfg for SAMPLE", instanceA, configured, do(a, "stop hadr on db SAMPLE"))},
}

// configured sets what the samples of the database configuration have.
func configured(x *pair) {
	for _, set := range []string{"HADR_LOCAL_HOST db2-server1", "HADR_REMOTE_HOST db2-ec2", "HADR_REMOTE_SVC 50012"} {
		x.a.db2(0, "update db cfg for SAMPLE using "+set)
	}
}

// noReply are the samples that no simulated pair answers.
var noReply = map[string]string{
	"C04": "No configuration of the database manager is simulated.",
	"C05": "No client reroute is simulated.",
	"C11": "More than one member.",
	"C17": "Db2's own cluster manager.",
	"C19": "A reason code that does not exist.",
	"C20": "A text that does not exist, wrapped inside the reason code.",
	"C23": "Line ends of another system.",
	"C26": "Circular logging: a pair is always built with archive logging.",
	"C31": "A reason code that does not exist.",
	"C35": "The wording of an older version, in a replay-only window.",
	"C43": "No client reroute is simulated.",
	"C45": "No remote client is simulated.",
	"C51": "Every statement of the simulator is over before it can be interrupted.",
	"C53": "A message that does not exist.",
	"C55": "Words without a message.",
	"C56": "A login's banner, which is not the processor's.",
}
