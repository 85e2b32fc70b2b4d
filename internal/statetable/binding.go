package statetable

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/awsclient"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// binding is whose alarm it is (R1).
type binding struct {
	Group string
	Node  string
}

// Binding implements control.Store.
func (t *Table) Binding(ctx context.Context, alarmARN string) (group, node string, err error) {
	it, err := t.get(ctx, "ALARM#"+alarmARN, skBinding)
	if err != nil {
		return "", "", err
	}
	var b binding
	if err := decode(it, &b); err != nil {
		return "", "", err
	}
	return b.Group, b.Node, nil
}

// BindAlarms binds failure alarms to a node, or returns ErrBound if one of
// them belongs to another group or node. Binding again changes nothing.
//
// The binding and its copy under the group are two writes, because tables with
// multi-Region strong consistency have no transactions. The binding comes
// first: it decides, the copy only lists.
func (t *Table) BindAlarms(ctx context.Context, group, node string, alarmARNs []string) error {
	attributes := item{"group": str(group), "node": str(node)}
	mine := condition{
		text:   "attribute_not_exists(#pk) OR (#group = :group AND #node = :node)",
		values: item{":group": str(group), ":node": str(node)},
	}
	for _, arn := range alarmARNs {
		err := t.put(ctx, "ALARM#"+arn, skBinding, attributes, mine)
		if awsclient.IsConditionFailed(err) {
			otherGroup, otherNode, readErr := t.Binding(ctx, arn)
			if readErr != nil {
				return fmt.Errorf("bind alarm %s to node %q of group %q: %w", arn, node, group, readErr)
			}
			return fmt.Errorf("bind alarm %s to node %q of group %q: %w: it is the alarm of node %q of group %q, and an alarm speaks of one node only",
				arn, node, group, ErrBound, otherNode, otherGroup)
		}
		if err != nil {
			return fmt.Errorf("bind alarm %s to node %q of group %q: %w", arn, node, group, err)
		}
		if err := t.put(ctx, groupPK(group), "ALARM#"+arn, item{"alarm": str(arn), "node": str(node)}, condition{}); err != nil {
			return err
		}
	}
	return nil
}

// UnbindAlarms ends the bindings that belong to the group.
func (t *Table) UnbindAlarms(ctx context.Context, group string, alarmARNs []string) error {
	mine := condition{text: "#group = :group", values: item{":group": str(group)}}
	for _, arn := range alarmARNs {
		if err := t.delete(ctx, "ALARM#"+arn, skBinding, mine); err != nil && !awsclient.IsConditionFailed(err) {
			return err
		}
		if err := t.delete(ctx, groupPK(group), "ALARM#"+arn, condition{}); err != nil {
			return err
		}
	}
	return nil
}

// bound returns the alarms that are bound to a group, also those that were not
// listed under it any more. It reads the whole table.
func (t *Table) bound(ctx context.Context, group string) ([]string, error) {
	arns, err := t.scan(ctx, "ALARM#", "#sk = :binding AND #group = :group", item{":binding": str(skBinding), ":group": str(group)})
	if err != nil {
		return nil, fmt.Errorf("look for the alarms of group %q in table %s: %w", group, t.name, err)
	}
	return arns, nil
}

// ReadAlarms returns the alarms of a group by node, in order.
func (t *Table) ReadAlarms(ctx context.Context, group string) (map[string][]string, error) {
	items, err := t.list(ctx, groupPK(group), "ALARM#", false, 0)
	if err != nil {
		return nil, fmt.Errorf("read the alarms of group %q: %w", group, err)
	}
	alarms := map[string][]string{}
	for _, it := range items {
		var a struct{ Alarm, Node string }
		if err := decode(it, &a); err != nil {
			return nil, err
		}
		alarms[a.Node] = append(alarms[a.Node], a.Alarm)
	}
	for _, arns := range alarms {
		slices.Sort(arns)
	}
	return alarms, nil
}

// See implements control.Store (R2). Who is first writes the operation; who is
// later reads it.
func (t *Table) See(ctx context.Context, alarmARN string, changed time.Time, operationID string, expires time.Time) (string, error) {
	pk := "SEEN#" + alarmARN + "#" + changed.UTC().Format(time.RFC3339Nano)
	first := item{"operation_id": str(operationID), "expires_at": number(expires.Unix())}
	writeErr := t.put(ctx, pk, skSeen, first, condition{text: "attribute_not_exists(#pk)"})
	if writeErr == nil {
		return operationID, nil
	}
	it, err := t.get(ctx, pk, skSeen)
	if err != nil {
		return "", fmt.Errorf("%w (and it could not be read back: %w)", writeErr, err)
	}
	var seen struct{ OperationID string }
	if err := decode(it, &seen); err != nil {
		return "", err
	}
	return seen.OperationID, nil
}

// maxPayload keeps an event of nobody far below the 400 KB of an item
// (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html).
const maxPayload = 64 << 10

// Unknown implements control.Store.
func (t *Table) Unknown(ctx context.Context, e failover.Entry, payload []byte) error {
	attributes, err := encode(e)
	if err != nil {
		return err
	}
	if len(payload) > maxPayload {
		payload = payload[:maxPayload]
	}
	attributes["payload"] = str(string(payload))
	return t.put(ctx, pkUnknown, newULID(t.clock.Now()), attributes, condition{})
}
