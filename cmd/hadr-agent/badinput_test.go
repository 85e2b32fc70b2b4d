package main

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/fault"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/landscape"
)

// badInput is something that is not as it should be on a host or at AWS.
type badInput struct {
	name string
	// begin brings it about and returns how it is mended.
	begin func(t *testing.T, p *pair) (mend func())
	says  string // in the log of every node in on, once
	fix   string // there, too
	on    string // nodes that see it
	// onRecord: their records can be written, and show it
	onRecord bool
	// blind nodes know nothing of their database: no good probe is claimed, and
	// the lease of the primary is suspended instead of left to expire
	blind bool
}

// twisted changes what the hosts answer to scripts.
func twisted(f twist) func(*testing.T, *pair) func() {
	return func(_ *testing.T, p *pair) func() {
		set := func(f twist) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.twists["a"], p.twists["b"] = f, f
		}
		set(f)
		return func() { set(nil) }
	}
}

// refusing lets AWS refuse calls of the hosts' role.
func refusing(faults ...fault.Fault) func(*testing.T, *pair) func() {
	return func(t *testing.T, p *pair) func() {
		for _, f := range faults {
			f.Role = landscape.Role
			_, err := p.Faults.Inject(t.Context(), f)
			must(t, err)
		}
		return p.Faults.Clear
	}
}

func denied(service, operation string) fault.Fault {
	return fault.Fault{Kind: fault.Denied, Selector: fault.Selector{Service: service, Operation: operation}}
}

func refused(service, code string) fault.Fault {
	return fault.Fault{Kind: fault.Failure, Selector: fault.Selector{Service: service}, Effect: fault.Effect{Code: code, Status: 400, Message: "no"}}
}

// viewed replaces what db2pd prints.
func viewed(output, by string) string {
	before, rest, found := strings.Cut(output, "=== hadr db2pd\n")
	if !found {
		return output
	}
	_, after, _ := strings.Cut(rest, "=== hadr end")
	return before + "=== hadr db2pd\n" + by + "\n=== hadr end" + after
}

func isView(script string) bool  { return strings.Contains(script, "db2pd -db") }
func isProbe(script string) bool { return strings.Contains(script, "HAPROBE.BEAT") }

// probeSays lets every probe end in a message of Db2.
func probeSays(text string, code int) func(*testing.T, *pair) func() {
	return twisted(func(script, output string, was int) (string, int) {
		if isProbe(script) {
			return text, code
		}
		return output, was
	})
}

var badInputs = []badInput{
	{name: "wrong credentials", begin: refusing(refused("dynamodb", "UnrecognizedClientException"), refused("cloudwatch", "InvalidClientTokenId")),
		says: "AWS refuses the credentials", fix: "correct the instance profile", on: "ab"},
	{name: "the state table is missing", begin: func(t *testing.T, p *pair) func() {
		_, err := dynamodb.NewFromConfig(p.Config(region)).DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String(table)})
		must(t, err)
		return func() { time.Sleep(time.Minute); p.declare(t, 20*time.Second, 5*time.Second) }
	}, says: "there is no such table", fix: "check HADR_TABLE and AWS_REGION", on: "ab"},
	{name: "the clock is off by more than the allowed drift", begin: func(t *testing.T, p *pair) func() {
		_, err := p.Faults.Inject(t.Context(), fault.Fault{Kind: fault.ClockOffset, Selector: fault.Selector{Instance: p.Databases["a"].InstanceID}, Effect: fault.Effect{Delay: fault.Duration(5 * time.Second)}})
		must(t, err)
		return p.Faults.Clear
	}, says: "the clock of this host is off by", fix: "chronyc makestep", on: "a", onRecord: true},
	{name: "a full disk: no script runs", begin: twisted(func(script, output string, code int) (string, int) {
		if isView(script) || isProbe(script) {
			return "sh: 1: cannot create temp file for here document: No space left on device\n", 2
		}
		return output, code
	}), says: "a disk of this host is full", fix: "free some space", on: "ab", onRecord: true, blind: true},
	{name: "db2 is not in PATH", begin: twisted(func(script, output string, code int) (string, int) {
		switch {
		case isView(script):
			return viewed(output, "timeout: failed to run command 'db2pd': No such file or directory"), code
		case isProbe(script):
			return "sh: 1: db2: not found\n", 127
		}
		return output, code
	}), says: "db2 or db2pd is not in the PATH of user db2inst1", fix: "db2profile", on: "ab", onRecord: true, blind: true},
	{name: "db2pd of an unknown version", begin: twisted(func(script, output string, code int) (string, int) {
		if isView(script) {
			return viewed(output, "Database Member 0 -- Database SAMPLE -- Active\n\nROLE: primary, state: peer"), code
		}
		return output, code
	}), says: "the database's own view is not understood", fix: "update hadr-agent", on: "ab", onRecord: true, blind: true},
	{name: "the table of the probe is missing", begin: probeSays("SQL0204N  \"HAPROBE.BEAT\" is an undefined name.  SQLSTATE=42704\n", 4),
		says: "has no table HAPROBE.BEAT", fix: "create it", on: "a", onRecord: true, blind: true},
	{name: "no permission to publish", begin: refusing(denied("cloudwatch", "PutMetricData")),
		says: "no permission for cloudwatch:PutMetricData", fix: "hadr_host_policy", on: "ab", onRecord: true},
	{name: "no permission to write the record", begin: refusing(denied("dynamodb", "PutItem")),
		says: "no permission for dynamodb:PutItem", fix: "hadr_host_policy", on: "ab"},
	{name: "no permission to renew the lease", begin: refusing(denied("dynamodb", "UpdateItem")),
		says: "no permission for dynamodb:UpdateItem", fix: "hadr_host_policy", on: "a", onRecord: true},
	{name: "no permission to invoke the function", begin: refusing(denied("dynamodb", "UpdateItem"), denied("lambda", "Invoke")),
		says: "no permission for lambda:InvokeFunction", fix: "hadr_host_policy", on: "b", onRecord: true},
	{name: "no permission to read the lease", begin: refusing(denied("dynamodb", "GetItem")),
		says: "no permission for dynamodb:GetItem", fix: "hadr_host_policy", on: "b", onRecord: true},
}

// TestBadInput lets the agents of a pair meet everything that is not as it
// should be, one after another: they say so once with the way out, report
// themselves unfit where the record can be written, run on, never make their
// node look healthier than it is, and recover when it is mended.
func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		p := startPair(t, 20*time.Second, 5*time.Second, sandbox.Options{Dir: dir})
		time.Sleep(time.Minute)
		for _, node := range []string{"a", "b"} {
			if text := strings.Join(p.logs[node].take(), ""); strings.Contains(text, "WARN") || !strings.Contains(text, "msg=measuring") {
				t.Fatalf("node %s before anything is wrong:\n%s", node, text)
			}
		}
		for _, in := range badInputs {
			in.meet(t, p)
		}
	})
}

// How long something is wrong, and how long it takes until all is well again.
const (
	wrong  = 70 * time.Second
	mended = 70 * time.Second
)

func (in badInput) meet(t *testing.T, p *pair) {
	t.Helper()
	began := time.Now()
	mend := in.begin(t, p)
	time.Sleep(wrong)
	for node := range strings.SplitSeq(in.on, "") {
		in.told(t, node, p.logs[node].take())
		if in.onRecord {
			in.unfit(t, p, node, began)
		}
	}
	mend()
	time.Sleep(mended)
	for _, node := range []string{"a", "b"} {
		log := strings.Join(p.logs[node].take(), "")
		if strings.Contains(in.on, node) && !strings.Contains(log, "msg=\"mended") && !strings.Contains(log, "msg=\"not needed any more") {
			t.Errorf("%s: node %s does not tell of the end:\n%s", in.name, node, log)
		}
		if strings.Contains(log, "msg=measuring") {
			t.Errorf("%s: the agent of node %s did not run on:\n%s", in.name, node, log)
		}
		o, err := p.record().Node(t.Context(), group, node)
		must(t, err)
		if o.Trouble != "" || o.Answer != failover.Answered || time.Since(o.ReadAt) > 25*time.Second || node == "b" && o.Fitness != failover.Fit {
			t.Errorf("%s: node %s does not recover: %q, %s, %s (%s), read %s ago", in.name, node, o.Trouble, o.Answer, o.Fitness, o.FitnessWhy, time.Since(o.ReadAt))
		}
	}
	l, err := p.record().ReadLease(t.Context(), group)
	must(t, err)
	if l.Suspended != "" || l.Holder != "a" {
		t.Errorf("%s: the lease is not renewed again: %+v", in.name, l)
	}
}

// told: once, with the way out.
func (in badInput) told(t *testing.T, node string, log []string) {
	t.Helper()
	told := 0
	for _, line := range log {
		if strings.Contains(line, "WARN") && strings.Contains(line, in.says) {
			told++
			if !strings.Contains(line, in.fix) {
				t.Errorf("%s: %q names no way out", in.name, line)
			}
		}
	}
	if told != 1 {
		t.Errorf("%s: node %s tells it %d times:\n%s", in.name, node, told, strings.Join(log, ""))
	}
}

// unfit: the node's record, newly written, says what is wrong, and nothing that
// is not known.
func (in badInput) unfit(t *testing.T, p *pair, node string, began time.Time) {
	t.Helper()
	o, err := p.record().Node(t.Context(), group, node)
	must(t, err)
	if time.Since(o.ReadAt) > 25*time.Second {
		t.Errorf("%s: the record of node %s is %s old", in.name, node, time.Since(o.ReadAt))
	}
	if !strings.Contains(o.Trouble, in.says) || o.Fitness != failover.Unfit || !strings.Contains(o.FitnessWhy, in.says) || !o.DeadManUntil.IsZero() {
		t.Errorf("%s: node %s looks healthier than it is: trouble %q, %s (%s), dead-man until %s", in.name, node, o.Trouble, o.Fitness, o.FitnessWhy, o.DeadManUntil)
	}
	if !in.blind {
		return
	}
	if o.LastGoodProbe.Sub(began) > 5*time.Second || o.LastBadProbe.After(began) {
		t.Errorf("%s: node %s judges a database that it can't see: good %s, bad %s", in.name, node, o.LastGoodProbe, o.LastBadProbe)
	}
	l, err := p.record().ReadLease(t.Context(), group)
	must(t, err)
	if node == "a" && !strings.Contains(l.Suspended, in.says) {
		t.Errorf("%s: the lease is suspended for %q", in.name, l.Suspended)
	}
}

// TestStandbyWithoutRoomForLog: the disk of a standby is full, so that the
// commits of its primary wait. Both nodes say what they see, the primary's lease
// lives on, and nobody suspects the primary (R4).
func TestStandbyWithoutRoomForLog(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		p := startPair(t, 20*time.Second, 5*time.Second, sandbox.Options{Dir: dir})
		time.Sleep(time.Minute)
		_, err := p.Faults.Inject(t.Context(), fault.Fault{Kind: fault.FullLogDevice, Selector: fault.Selector{Instance: p.Databases["b"].InstanceID}})
		must(t, err)
		time.Sleep(3 * time.Minute)
		before, err := p.record().ReadLease(t.Context(), group)
		must(t, err)
		time.Sleep(20 * time.Second)
		now, err := p.record().ReadLease(t.Context(), group)
		must(t, err)
		if !now.WaitingForStandby || now.Counter <= before.Counter {
			t.Errorf("the lease of a primary that waits: %+v, 20 s before %+v", now, before)
		}
		a, err := p.record().Node(t.Context(), group, "a")
		must(t, err)
		b, err := p.record().Node(t.Context(), group, "b")
		must(t, err)
		if !a.WaitsForStandby || b.PartnerLost || !b.LeaseStill.At.IsZero() {
			t.Errorf("primary waits: %t; standby misses it: %t, its lease stood still at %s", a.WaitsForStandby, b.PartnerLost, b.LeaseStill.At)
		}
		p.Faults.Clear()
		time.Sleep(time.Minute)
		if a, err = p.record().Node(t.Context(), group, "a"); err != nil || a.WaitsForStandby || a.LastGoodProbe.Before(a.LastBadProbe) {
			t.Errorf("afterwards the primary waits: %t; last good probe %s, bad %s (%v)", a.WaitsForStandby, a.LastGoodProbe, a.LastBadProbe, err)
		}
		if text := strings.Join(append(p.logs["a"].take(), p.logs["b"].take()...), ""); strings.Contains(text, "reported to the takeover function") || strings.Count(text, "msg=\"the probe failed") > 1 {
			t.Errorf("said:\n%s", text)
		}
	})
}
