package check

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// now is the moment at which every state of the core is looked at: its times
// are moved instead.
var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// canonical drops from a state of the core what decides nothing: texts,
// identifiers, and how long ago things were that are only told to people. Two
// states that are equal then behave alike for ever.
func canonical(s failover.State) failover.State {
	s.Group, s.Config, s.Version, s.Off = "", failover.Config{}, 0, 0
	s.Maintenance.Reason = ""
	if now.Sub(s.Refused.At) >= quiet {
		s.Refused = failover.Refusal{}
	}
	s.Ended = endedAlarms(s.Ended)
	s.Fenced = cloneFences(s.Fenced)
	canonicalPending(&s)
	if s.Operation != nil {
		op := *s.Operation
		canonicalOperation(&op)
		s.Operation = &op
	}
	if s.Attempt != nil {
		a := *s.Attempt
		a.Trigger, a.Evidence = "", nil
		s.Attempt = &a
	}
	again := stoppedAgain(s)
	setTimes(reflect.ValueOf(&s).Elem(), "")
	if again {
		f := s.Fenced[s.Operation.From]
		f.ConfirmedAt = now
		s.Fenced[s.Operation.From] = f
	}
	return s
}

// stoppedAgain reports whether the old primary was read as stopped after the
// beginning of a takeover that rests on its stop before.
func stoppedAgain(s failover.State) bool {
	op := s.Operation
	return op != nil && op.Force == failover.AfterWindow && s.Fenced[op.From].ConfirmedAt.After(op.Started)
}

// quiet is how long a refusal of the minutely look is not repeated: the longest
// period that the core counts backwards.
const quiet = 15 * time.Minute

func cloneFences(fences map[string]failover.Fence) map[string]failover.Fence {
	if len(fences) == 0 {
		return nil
	}
	cloned := make(map[string]failover.Fence, len(fences))
	for id, f := range fences {
		f.Epoch, f.Method, f.At = 1, "", past
		if len(f.Groups) > 0 {
			f.Groups = []string{ownGroup}
		}
		cloned[id] = f
	}
	return cloned
}

// endedAlarms are the operations of alarms, in any order: no event of another one
// comes again.
func endedAlarms(ended []string) (kept []string) {
	for _, id := range []string{ids[alarmA], ids[alarmB]} {
		if slices.Contains(ended, id) {
			kept = append(kept, id)
		}
	}
	return kept
}

// canonicalPending keeps of a takeover that waits for a person whether it is one
// of this epoch, and which alarm would be read again.
func canonicalPending(s *failover.State) {
	if s.Pending == nil {
		return
	}
	p := *s.Pending
	p.Trigger, p.Since = "", time.Time{}
	if p.Epoch != s.Epoch {
		p.Epoch = 0
	}
	if p.OperationID == ids[look] {
		p.OperationID = idApproval // the next look is another operation
	}
	s.Pending = &p
}

// past stands for some time ago, where that is all that counts.
var past = now.Add(-time.Second)

func canonicalOperation(op *failover.Operation) {
	op.Config, op.Trigger, op.LastResult, op.CommandID = failover.Config{}, "", "", ""
	op.Evidence, op.Phases, op.Starts, op.Replaced = nil, nil, min(op.Starts, 1), nil
	op.Attempt, op.Fence.Tries = min(op.Attempt, 2), min(op.Fence.Tries, 3)
	op.Blocked, op.Next, op.Isolated = marker(op.Blocked), marker(op.Next), marker(op.Isolated)
	op.StepSince = stepAge(op)
	if len(op.Routes) == 0 {
		op.Routes = nil
		return
	}
	routes := make(map[string]failover.Redirect, len(op.Routes))
	for table, r := range op.Routes {
		r.Error, r.Tries = marker(r.Error), 0
		routes[table] = r
	}
	op.Routes = routes
}

// stepAge keeps how long a step has lasted, where that decides: a database gets
// some time to start by itself, and a person's command to promote by force.
func stepAge(op *failover.Operation) time.Time {
	old := now.Sub(op.StepSince)
	switch {
	case op.Force != failover.WithinWindow && old >= forcedPatience:
		return now.Add(-forcedPatience)
	case op.Step == failover.StepRestart:
		return age(30 * time.Second)(op.StepSince)
	case op.Force != failover.WithinWindow:
		return age(forcedPatience)(op.StepSince)
	}
	return now
}

// forcedPatience is how long the core waits for a person's command.
const forcedPatience = 20 * time.Minute

// marker keeps whether there is a text.
func marker(text string) string {
	if text == "" {
		return ""
	}
	return "x"
}

// Times by the name of their field: how they count.
var times = map[string]func(time.Time) time.Time{
	"Cooldown":    expires,
	"ClaimsWait":  expires,
	"Promoting":   expires,
	"Deadline":    deadline,
	"WindowEnd":   deadline,
	"Expires":     deadline,
	"Until":       deadline,
	"Changed":     age(2 * time.Minute),
	"Sent":        age(2 * time.Minute),
	"StepSince":   exactly, // it is canonical already
	"Started":     always,
	"Accepted":    always,
	"Confirmed":   always,
	"ConfirmedAt": always,
}

// expires: a time in the past counts like none.
func expires(t time.Time) time.Time {
	if !t.After(now) {
		return time.Time{}
	}
	return deadline(t)
}

// deadline: in the past it is over, and far away it comes nearer in steps of a
// while only.
func deadline(t time.Time) time.Time {
	switch left := t.Sub(now); {
	case left < 0:
		return past
	case left > time.Minute:
		return now.Add(left + (while-left%while)%while)
	}
	return t
}

// age keeps how long ago something was, up to a limit that only a while or more
// reaches.
func age(limit time.Duration) func(time.Time) time.Time {
	return func(t time.Time) time.Time {
		switch old := now.Sub(t); {
		case old >= limit:
			return now.Add(-limit)
		case old > 2*tick:
			return now.Add(-2 * tick)
		}
		return t
	}
}

func always(time.Time) time.Time { return past }

func exactly(t time.Time) time.Time { return t }

// someTime is how every other time counts: recently, or not.
var someTime = age(2 * tick)

// setTimes brings every time in v to its canonical form.
func setTimes(v reflect.Value, name string) {
	if t, ok := v.Interface().(time.Time); ok {
		if t.IsZero() {
			return
		}
		count := times[name]
		if count == nil {
			count = someTime
		}
		v.Set(reflect.ValueOf(count(t)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			setTimes(v.Field(i), v.Type().Field(i).Name)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			setTimes(v.Elem(), name)
		}
	case reflect.Map:
		eachOf(v, func(e reflect.Value) { setTimes(e, name) })
	}
}

// eachOf gives v a map of its own, and changes each element.
func eachOf(v reflect.Value, do func(reflect.Value)) {
	if v.Len() == 0 {
		return
	}
	fresh := reflect.MakeMapWithSize(v.Type(), v.Len())
	for _, k := range v.MapKeys() {
		e := reflect.New(v.Type().Elem()).Elem()
		e.Set(v.MapIndex(k))
		do(e)
		fresh.SetMapIndex(k, e)
	}
	v.Set(fresh)
}

// shift moves every time of a state d into the past.
func shift(s failover.State, d time.Duration) failover.State {
	if s.Operation != nil {
		op := *s.Operation
		s.Operation = &op
	}
	if s.Attempt != nil {
		a := *s.Attempt
		s.Attempt = &a
	}
	if s.Pending != nil {
		p := *s.Pending
		s.Pending = &p
	}
	move(reflect.ValueOf(&s).Elem(), d)
	return s
}

func move(v reflect.Value, d time.Duration) {
	if t, ok := v.Interface().(time.Time); ok {
		if !t.IsZero() {
			v.Set(reflect.ValueOf(t.Add(-d)))
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			move(v.Field(i), d)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			move(v.Elem(), d)
		}
	case reflect.Map:
		eachOf(v, func(e reflect.Value) { move(e, d) })
	}
}

// key writes a canonical state down, so that equal states have equal keys.
func key(s failover.State) string {
	var b strings.Builder
	write(&b, reflect.ValueOf(s))
	return b.String()
}

func write(b *strings.Builder, v reflect.Value) {
	if t, ok := v.Interface().(time.Time); ok {
		if !t.IsZero() {
			fmt.Fprint(b, t.Sub(now).Seconds())
		}
		b.WriteByte(';')
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			write(b, v.Field(i))
		}
	case reflect.Pointer:
		if v.IsNil() {
			b.WriteString("-;")
			return
		}
		b.WriteString("*")
		write(b, v.Elem())
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(x, y reflect.Value) int { return strings.Compare(x.String(), y.String()) })
		fmt.Fprintf(b, "{%d:", len(keys))
		for _, k := range keys {
			b.WriteString(k.String() + "=")
			write(b, v.MapIndex(k))
		}
	default:
		fmt.Fprintf(b, "%v;", v.Interface())
	}
}
