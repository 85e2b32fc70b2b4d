package statetable

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/hadr-dev/terraform-provider-hadr/internal/awsclient"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// ReadConfig returns what Terraform declared, or control.ErrNotFound.
func (t *Table) ReadConfig(ctx context.Context, group string) (failover.Config, error) {
	it, err := t.get(ctx, groupPK(group), skConfig)
	if err != nil {
		return failover.Config{}, err
	}
	var c failover.Config
	return c, decode(it, &c)
}

// PutConfig writes what Terraform declares. It returns ErrBusy while an
// operation works on a snapshot of the present one (R13).
func (t *Table) PutConfig(ctx context.Context, group string, c failover.Config) error {
	s, err := t.readState(ctx, group)
	if err != nil && !errors.Is(err, control.ErrNotFound) {
		return err
	}
	if err == nil {
		if err := idle(group, s); err != nil {
			return fmt.Errorf("change the configuration: %w", err)
		}
	}
	attributes, err := encode(c)
	if err != nil {
		return err
	}
	return t.put(ctx, groupPK(group), skConfig, attributes, condition{})
}

// DeleteConfig removes what Terraform declared. It is no error if there is none.
func (t *Table) DeleteConfig(ctx context.Context, group string) error {
	return t.delete(ctx, groupPK(group), skConfig, condition{})
}

// idle returns ErrBusy if an operation is going on. A blocked one waits for a
// human, and his way out may be a change of the configuration.
func idle(group string, s stored) error {
	if s.Operation == nil || s.Phase == failover.Blocked {
		return nil
	}
	return fmt.Errorf("group %q: %w: %s %s from %q to %q, in step %s since %s; wait for its end",
		group, ErrBusy, s.Operation.Kind, s.Operation.ID, s.Operation.From, s.Operation.To,
		s.Operation.Step, s.Operation.StepSince.Format(time.RFC3339))
}

// CreateState creates the authority of a group, or returns ErrExists: Terraform
// never decides who is primary of a group that lives. The caller starts above
// every epoch that the nodes have seen (R12). initial.Version is not used.
func (t *Table) CreateState(ctx context.Context, group string, initial failover.State) error {
	a := authorityOf(initial, 1, newULID(t.clock.Now()))
	attributes, err := a.attributes()
	if err != nil {
		return err
	}
	for name, av := range maintenanceAttributes(initial.Maintenance) {
		attributes[name] = av
	}
	for name, av := range attributes {
		if av == nil {
			delete(attributes, name)
		}
	}
	writeErr := t.put(ctx, groupPK(group), skState, attributes, condition{text: "attribute_not_exists(#pk)"})
	if writeErr == nil {
		return nil
	}
	now, err := t.readState(ctx, group)
	switch {
	case err != nil:
		return fmt.Errorf("create the state of group %q: %w (read back: %w)", group, writeErr, err)
	case now.WriteToken == a.WriteToken:
		return nil // the answer was lost
	}
	return fmt.Errorf("create the state of group %q: %w: primary %q in epoch %d, phase %s", group, ErrExists, now.Primary, now.Epoch, now.Phase)
}

// SetMaintenance switches automatic action off or on again. A running
// operation goes on (R24).
func (t *Table) SetMaintenance(ctx context.Context, group string, m failover.Maintenance) error {
	err := t.update(ctx, groupPK(group), skState, maintenanceAttributes(m), condition{text: "attribute_exists(#pk)"})
	if awsclient.IsConditionFailed(err) {
		return fmt.Errorf("set the maintenance of group %q in table %s: no such group: %w", group, t.name, control.ErrNotFound)
	}
	return err
}

// EndMaintenance switches expired maintenance off, unless somebody has changed
// it since it was read.
func (t *Table) EndMaintenance(ctx context.Context, group string, expired failover.Maintenance) error {
	err := t.update(ctx, groupPK(group), skState, maintenanceAttributes(failover.Maintenance{}), condition{
		text:   "#maintenance = :on AND #maintenance_until = :until",
		values: item{":on": boolean(true), ":until": number(expired.Until.Unix())},
	})
	if awsclient.IsConditionFailed(err) {
		return nil
	}
	return err
}

func maintenanceAttributes(m failover.Maintenance) item {
	attributes := item{"maintenance": boolean(m.On), "maintenance_until": nil, "maintenance_reason": nil}
	if !m.Until.IsZero() {
		attributes["maintenance_until"] = number(m.Until.Unix())
	}
	if m.Reason != "" {
		attributes["maintenance_reason"] = str(m.Reason)
	}
	return attributes
}

// DeleteGroup removes a group, its configuration, observations, lease and
// alarm bindings. It returns ErrBusy while an operation runs, unless forced.
// The history stays: it tells the epochs of a group that is created again, and
// who did what. Probes stay, too: they are declared on their own.
//
// After an interruption at any point, the same call goes on. STATE goes first,
// because no operation begins without it, and CONFIG last: until then Left
// tells that there is something to delete.
func (t *Table) DeleteGroup(ctx context.Context, group string, force bool) error {
	if err := t.deleteState(ctx, group, force); err != nil {
		return err
	}
	alarms, err := t.bound(ctx, group)
	if err != nil {
		return err
	}
	if err := t.UnbindAlarms(ctx, group, alarms); err != nil {
		return err
	}
	rest, err := t.list(ctx, groupPK(group), "", false, 0)
	if err != nil {
		return err
	}
	for _, it := range rest {
		sk := text(it["sk"])
		if sk == skConfig || strings.HasPrefix(sk, "OP#") || strings.HasPrefix(sk, "PROBE#") {
			continue
		}
		if err := t.delete(ctx, groupPK(group), sk, condition{}); err != nil {
			return err
		}
	}
	return t.DeleteConfig(ctx, group)
}

func (t *Table) deleteState(ctx context.Context, group string, force bool) error {
	free := condition{text: "attribute_not_exists(#operation) OR #phase = :blocked", values: item{":blocked": str(string(failover.Blocked))}}
	if force {
		free = condition{}
	}
	err := t.delete(ctx, groupPK(group), skState, free)
	if !awsclient.IsConditionFailed(err) {
		return err
	}
	s, readErr := t.readState(ctx, group)
	if readErr != nil {
		return fmt.Errorf("delete group %q: %w", group, readErr)
	}
	if err := idle(group, s); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	return fmt.Errorf("delete group %q: %w: an operation ran when it was asked for, and has ended since; delete it again", group, ErrBusy)
}

// Left returns the sort keys of what is left of a group that was not created, or
// not deleted, to its end. What agents write does not count: they may outlive
// their group.
func (t *Table) Left(ctx context.Context, group string) ([]string, error) {
	var left []string
	for _, prefix := range []string{skState, skConfig, "ALARM#"} {
		items, err := t.list(ctx, groupPK(group), prefix, false, 0)
		if err != nil {
			return nil, err
		}
		for _, it := range items {
			left = append(left, text(it["sk"]))
		}
	}
	return left, nil
}

// ListGroups returns the names of all groups that have a state, in order. It
// reads the whole table: it is for people, not for the control plane.
func (t *Table) ListGroups(ctx context.Context) ([]string, error) {
	groups, err := t.scan(ctx, "GROUP#", "#sk = :state", item{":state": str(skState)})
	if err != nil {
		return nil, fmt.Errorf("list the groups of table %s: %w", t.name, err)
	}
	return groups, nil
}

// scan reads the whole table and returns what follows the prefix in the
// partition keys of the items that fit the filter, in order.
func (t *Table) scan(ctx context.Context, prefix, filter string, values item) ([]string, error) {
	in := &dynamodb.ScanInput{
		TableName: &t.name, ConsistentRead: aws.Bool(true),
		FilterExpression:          &filter,
		ProjectionExpression:      aws.String("#pk"),
		ExpressionAttributeNames:  names(filter + " #pk"),
		ExpressionAttributeValues: values,
	}
	var found []string
	for {
		out, err := t.api.Scan(ctx, in)
		if err != nil {
			return nil, err
		}
		for _, it := range out.Items {
			if name, ok := strings.CutPrefix(text(it["pk"]), prefix); ok {
				found = append(found, name)
			}
		}
		if len(out.LastEvaluatedKey) == 0 {
			slices.Sort(found)
			return found, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}
