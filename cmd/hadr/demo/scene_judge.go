package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// judge compares what is with what must be at the end of every scenario:
// nothing lost, one writer, an endpoint that leads to the recorded primary, no
// operation that is stuck, and a history that tells all of it.
func (s *scene) judge(ctx context.Context) error {
	if err := s.watched(ctx, 10*time.Second); err != nil {
		return err
	}
	state, err := s.watcher.look(ctx)
	if err != nil {
		return err
	}
	r := s.result
	serving := s.writes(state.Primary)
	s.end()
	r.Primary, r.Epoch = state.Primary, state.Epoch
	r.expect(state.Primary == s.want.primary && state.Epoch == s.want.epoch,
		"node %s is primary in epoch %d, not node %s in epoch %d", state.Primary, state.Epoch, s.want.primary, s.want.epoch)
	r.expect(serving, "no client writes to node %s", state.Primary)
	r.expect(state.Operation == nil || state.Phase == failover.Blocked && state.Operation.Next != "",
		"an operation is stuck in phase %s without a way out", state.Phase)
	if op := state.Operation; op != nil {
		r.expect(false, "the group ends at step %s: %s", op.Step, op.Blocked)
	}

	if r.Owners, err = s.watcher.routes(ctx); err != nil {
		return err
	}
	for _, table := range sortedKeys(r.Owners) {
		r.expect(r.Owners[table] == "node "+state.Primary, "the VIP in %s leads to %s, but node %s is the recorded primary", table, r.Owners[table], state.Primary)
	}
	writers := s.stage.Writers(ctx)
	r.expect(len(writers) < 2, "two nodes read PRIMARY: %s", strings.Join(writers, ", "))

	rows, err := s.stage.Survivors(state.Primary)
	if err != nil {
		return err
	}
	acks := s.load.Acks()
	r.Audit = Judge(acks, rows)
	r.expect(r.Audit.Acknowledged > 0, "nothing was acknowledged")
	r.expect(r.Audit.Double == 0, "%d commits were acknowledged or stored twice", r.Audit.Double)
	if s.want.loss {
		r.expect(r.Audit.Lost > 0, "nothing was lost, although the standby lacked commits: the audit is blind")
	} else {
		r.expect(r.Audit.Lost == 0, "%d acknowledged commits are lost", r.Audit.Lost)
		r.expect(r.Audit.Forked == 0, "%d positions of the log have two writers", r.Audit.Forked)
	}

	history, err := s.watcher.history(ctx)
	if err != nil {
		return err
	}
	for _, gap := range Incomplete(history, state.Operation) {
		r.expect(false, "history: %s", gap)
	}
	if first, ok := s.load.First(nodeName("a", s.stage)); ok && first.At.After(s.failure) {
		r.measure(s.failure, history, first)
	}
	at, pause := longestPause(acks, s.failure)
	s.timeline.Add(at, "client", "no commit for %.1f s from here, the longest time", pause.Seconds())
	r.Timeline = s.timeline.Moments()
	return nil
}

// Incomplete says what is missing in a history, oldest entry first: an
// operation that started ends once or is the one that is blocked, and whatever
// was not done says why and what to do next.
func Incomplete(history []failover.Entry, running *failover.Operation) (gaps []string) {
	started, ended := map[string]int{}, map[string]int{}
	for _, e := range history {
		switch e.Event {
		case "started":
			started[e.OperationID]++
		case "ended":
			ended[e.OperationID]++
		case "refused", "blocked":
			if e.Next == "" {
				gaps = append(gaps, fmt.Sprintf("%s without a next command: %s", e.Event, e.Reason))
			}
		}
		if e.Reason == "" {
			gaps = append(gaps, fmt.Sprintf("an entry %q at %s gives no reason", e.Event, e.At.UTC().Format(time.TimeOnly)))
		}
	}
	for _, id := range sortedKeys(started) {
		switch {
		case ended[id] == 0 && (running == nil || running.ID != id):
			gaps = append(gaps, fmt.Sprintf("operation %s has no end", id))
		case ended[id] > 1:
			gaps = append(gaps, fmt.Sprintf("operation %s ended %d times", id, ended[id]))
		}
	}
	for _, id := range sortedKeys(ended) {
		if started[id] == 0 {
			gaps = append(gaps, fmt.Sprintf("operation %s ended and never started", id))
		}
	}
	return gaps
}

// Writers are the nodes whose databases read PRIMARY and are active.
func (s *Stage) Writers(ctx context.Context) (nodes []string) {
	for _, node := range s.nodes() {
		asked, cancel := clock.WithTimeout(ctx, s.Clock, 10*time.Second) // a machine without power says nothing
		r, err := s.Shell(asked, node, fmt.Sprintf("runuser -l %s -c 'db2pd -db %s -hadr'", Owner, Database))
		cancel()
		if err == nil && strings.Contains(r.Stdout, "HADR_ROLE = PRIMARY") {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// longestPause is the longest time without a commit of any client after a
// moment.
func longestPause(acks []Ack, from time.Time) (at time.Time, pause time.Duration) {
	times := []time.Time{from}
	for _, a := range acks {
		if a.At.After(from) {
			times = append(times, a.At)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	at = from
	for i := 1; i < len(times); i++ {
		if d := times[i].Sub(times[i-1]); d > pause {
			at, pause = times[i-1], d
		}
	}
	return at, pause
}
