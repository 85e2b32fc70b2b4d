package statetable

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/hadr-dev/terraform-provider-hadr/internal/awsclient"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// appendTries bounds how often two writers of one operation may collide.
const appendTries = 8

// Append implements control.Store. Entries of an operation are numbered in the
// order in which they arrive; an entry without an operation stands alone.
func (t *Table) Append(ctx context.Context, group string, e failover.Entry) error {
	attributes, err := encode(e)
	if err != nil {
		return err
	}
	token := newULID(t.clock.Now())
	attributes["write_token"] = str(token)

	prefix := "OP#" + operationULID(e) + "#"
	var last error
	for range appendTries {
		newest, err := t.list(ctx, groupPK(group), prefix, true, reach(e))
		if err != nil {
			return fmt.Errorf("append to the history of group %q: %w", group, err)
		}
		seq := 1
		if len(newest) > 0 {
			if text(newest[0]["write_token"]) == token {
				return nil // the answer to an earlier try was lost
			}
			if slices.ContainsFunc(newest, func(i item) bool {
				var told failover.Entry
				return decode(i, &told) == nil && repeats(e, told)
			}) {
				return nil
			}
			seq = sequence(text(newest[0]["sk"])) + 1
		}
		last = t.put(ctx, groupPK(group), fmt.Sprintf("%s%04d", prefix, seq), maps.Clone(attributes),
			condition{text: "attribute_not_exists(#pk)"})
		if last == nil {
			return nil
		}
		if !awsclient.IsConditionFailed(last) && awsclient.Outcome(last) == failover.Failed {
			break
		}
		if err := t.clock.Sleep(ctx, writePause); err != nil {
			return fmt.Errorf("append to the history of group %q: %w", group, err)
		}
	}
	return fmt.Errorf("append to the history of group %q: %w", group, last)
}

// reach is how many of the newest entries an entry may repeat, 0 = all: of several
// runners that tell how an operation began, ended or was blocked, one may be late.
func reach(e failover.Entry) int {
	switch e.Event {
	case "started", "ended", "blocked":
		return 0
	}
	return 1
}

// repeats reports whether an entry tells what was told already. An operation
// starts once, whatever step it has reached when somebody tells of it, and it ends
// once. It may be blocked by the same thing again later.
func repeats(e, told failover.Entry) bool {
	if e.OperationID == "" || e.OperationID != told.OperationID || e.Event != told.Event || e.Epoch != told.Epoch {
		return false
	}
	switch e.Event {
	case "started", "ended":
		return true
	case "blocked":
		return e.At.Equal(told.At) && e.Reason == told.Reason
	}
	return e.Step == told.Step && e.Reason == told.Reason
}

func operationULID(e failover.Entry) string {
	if id, err := ulid.ParseStrict(e.OperationID); err == nil {
		return id.String()
	}
	return newULID(e.At)
}

func sequence(sk string) int {
	n, _ := strconv.Atoi(sk[strings.LastIndexByte(sk, '#')+1:])
	return n
}

// History returns the newest entries of a group, newest first; limit 0 returns
// them all.
func (t *Table) History(ctx context.Context, group string, limit int) ([]failover.Entry, error) {
	items, err := t.list(ctx, groupPK(group), "OP#", true, limit)
	if err != nil {
		return nil, fmt.Errorf("read the history of group %q: %w", group, err)
	}
	entries := make([]failover.Entry, len(items))
	for i, it := range items {
		if err := decode(it, &entries[i]); err != nil {
			return nil, err
		}
	}
	return entries, nil
}
