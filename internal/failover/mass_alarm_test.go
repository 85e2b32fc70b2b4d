package failover

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// member is a group of a fleet whose alarms all go off at once.
type member struct {
	state    State
	gathered Gathered
	outside  Signal // what says so beside CloudWatch, "" = nothing
}

// drawMember draws a group in any zone, with any policy and any number of red
// alarms. Its status commands may be slow, as everything is on such a day.
func drawMember(t *rapid.T, i int) member {
	zones := []string{"eu-central-1a", "eu-central-1b", "eu-central-1c"}
	m := member{state: steadyState(), gathered: vanished()}
	m.state.Group = fmt.Sprintf("group-%d", i)
	m.state.Config.Policy = rapid.SampledFrom([]Policy{Automatic, Approval, Observe}).Draw(t, "policy")
	for n := range m.state.Config.Nodes {
		m.state.Config.Nodes[n].Zone = rapid.SampledFrom(zones).Draw(t, "zone")
	}
	m.gathered.Evidence = nil
	for range rapid.IntRange(1, 6).Draw(t, "alarms") {
		m.gathered.Evidence = append(m.gathered.Evidence, Evidence{
			Node: "a", Signal: SignalAlarm, Detail: "no data", At: now, Conclusive: rapid.Bool().Draw(t, "says it is sure"),
		})
	}
	if rapid.Bool().Draw(t, "slow commands") {
		m.gathered.Evidence = append(m.gathered.Evidence, Evidence{Node: "a", Signal: SignalSilent, At: now})
	}
	if rapid.Bool().Draw(t, "dead") {
		m.outside = rapid.SampledFrom([]Signal{SignalLease, SignalInstance, SignalStandbyView, SignalDatabaseDown, SignalProbe}).Draw(t, "outside")
		m.gathered.Evidence = append(m.gathered.Evidence, Evidence{Node: "a", Signal: m.outside, At: now})
	}
	return m
}

// decide looks at the group for as long as its event may wait.
func (m member) decide(off Rules) Entry {
	s := m.state
	s.Off = off
	s, effects := Step(s, Alarmed{At: now, Node: "a", Alarm: alarmARN, Changed: now, OperationID: "op1"})
	for at := now; s.Attempt != nil && s.Attempt.Kind == ""; at = at.Add(gatherPause) {
		m.gathered.At = at
		s, effects = Step(s, m.gathered)
	}
	for _, e := range effects {
		switch e := e.(type) {
		case Seal:
			return Entry{Event: "seals"}
		case Record:
			return e.Entry
		}
	}
	return Entry{}
}

// TestMassAlarm: when the alarms of many groups in several zones go off at once,
// a group is touched, or a person asked to approve that, only where something
// outside CloudWatch says that its own primary failed. All the others are told
// of, with the reason and the next command. Without R8 CloudWatch could take a
// whole fleet over.
func TestMassAlarm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for i := range rapid.IntRange(10, 40).Draw(t, "groups") {
			m := drawMember(t, i)
			acts := map[Policy]string{Automatic: "seals", Approval: "approval_wanted", Observe: "would_have_acted"}[m.state.Config.Policy]
			got := m.decide(0)
			switch {
			case m.outside != "" && got.Event != acts:
				t.Errorf("group %d, alarms and %s: %q (%s), want %q", i, m.outside, got.Event, got.Reason, acts)
			case m.outside != "":
			case got.Event != "refused" || !strings.Contains(got.Reason, "a second signal from outside CloudWatch is needed") || got.Next == "":
				t.Errorf("group %d, alarms alone: %q (%s), next %q; want a refusal with its reason and the next command", i, got.Event, got.Reason, got.Next)
			}
			if blind := m.decide(Of(R8)); blind.Event != acts {
				t.Errorf("group %d without R8: %q, want %q: then this test shows nothing", i, blind.Event, acts)
			}
		}
	})
}

// TestSignalsOutsideCloudWatch: a new signal counts as one of CloudWatch until
// somebody has said here that it is none.
func TestSignalsOutsideCloudWatch(t *testing.T) {
	for signal, want := range map[Signal]bool{
		SignalAlarm: false, SignalSilent: false, "a new one": false,
		SignalLease: true, SignalInstance: true, SignalStandbyView: true, SignalDatabaseDown: true, SignalProbe: true, SignalHuman: true,
	} {
		if signal.outside() != want {
			t.Errorf("%s comes from outside CloudWatch: %v, want %v", signal, !want, want)
		}
	}
	_, why := proven([]Evidence{{Node: "a", Signal: SignalAlarm, At: now.Add(-time.Minute), Conclusive: true}}, "a", now)
	if !strings.Contains(why, "outside CloudWatch") {
		t.Errorf("an alarm that says it is conclusive: %q", why)
	}
}
