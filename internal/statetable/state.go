package statetable

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// authority is what the control plane writes into STATE.
type authority struct {
	Epoch         uint64
	Primary       string
	Phase         failover.Phase
	Version       uint64
	Operation     *failover.Operation
	Fenced        map[string]failover.Fence
	CooldownUntil time.Time
	ChangedAt     time.Time
	RefusedGuard  failover.Guard
	RefusedAt     time.Time
	Pending       *failover.Pending
	Word          *failover.Entry
	Start         *failover.Entry
	Ended         []string
	VoidSeal      string
	ClaimsWait    time.Time
	Attended      time.Time
	WriteToken    string
}

// authorityOf is what the control plane writes of a state, as a version of the
// record. The token tells its write from others.
func authorityOf(s failover.State, version uint64, token string) authority {
	return authority{
		Epoch: s.Epoch, Primary: s.Primary, Phase: s.Phase, Version: version,
		Operation: s.Operation, Fenced: s.Fenced, CooldownUntil: s.Cooldown, ChangedAt: s.Changed,
		RefusedGuard: s.Refused.Guard, RefusedAt: s.Refused.At, Pending: s.Pending,
		Word: s.Word, Start: s.Start, Ended: s.Ended, VoidSeal: s.VoidSeal, ClaimsWait: s.ClaimsWait,
		Attended: s.Attended, WriteToken: token,
	}
}

// switches is what people write into STATE.
type switches struct {
	Maintenance       bool
	MaintenanceUntil  int64 // seconds since 1970, because the claim compares it
	MaintenanceReason string
}

func (s switches) maintenance() failover.Maintenance {
	m := failover.Maintenance{On: s.Maintenance, Reason: s.MaintenanceReason}
	if s.MaintenanceUntil != 0 {
		m.Until = time.Unix(s.MaintenanceUntil, 0).UTC()
	}
	return m
}

// stored is STATE as it was read.
type stored struct {
	authority
	switches
}

func (s stored) state(group string, config failover.Config) failover.State {
	return failover.State{
		Group: group, Config: config,
		Epoch: s.Epoch, Primary: s.Primary, Phase: s.Phase, Version: s.Version,
		Operation: s.Operation, Fenced: s.Fenced,
		Cooldown: s.CooldownUntil, Changed: s.ChangedAt,
		Refused:     failover.Refusal{Guard: s.RefusedGuard, At: s.RefusedAt},
		Pending:     s.Pending,
		Word:        s.Word,
		Start:       s.Start,
		Ended:       s.Ended,
		VoidSeal:    s.VoidSeal,
		ClaimsWait:  s.ClaimsWait,
		Attended:    s.Attended,
		Maintenance: s.maintenance(),
	}
}

// attributes are those of the control plane, nil where an attribute is to be
// removed. What conditions compare is always there.
func (a authority) attributes() (item, error) {
	m, err := encode(a)
	if err != nil {
		return nil, err
	}
	for name, av := range (item{
		"epoch": number(a.Epoch), "primary": str(a.Primary), "phase": str(string(a.Phase)), "version": number(a.Version),
		"operation": nil, "fenced": nil, "cooldown_until": nil, "changed_at": nil,
		"refused_guard": nil, "refused_at": nil, "pending": nil, "word": nil, "start": nil, "ended": nil, "void_seal": nil, "claims_wait": nil, "attended": nil,
	}) {
		if _, set := m[name]; !set {
			m[name] = av
		}
	}
	return m, nil
}

// Load implements control.Store.
func (t *Table) Load(ctx context.Context, group string) (failover.State, error) {
	s, err := t.readState(ctx, group)
	if err != nil {
		return failover.State{}, err
	}
	config, err := t.ReadConfig(ctx, group)
	if err != nil {
		return failover.State{}, err
	}
	return s.state(group, config), nil
}

// LoadState is Load without the configuration, which a group that was not
// created to its end does not have.
func (t *Table) LoadState(ctx context.Context, group string) (failover.State, error) {
	s, err := t.readState(ctx, group)
	if err != nil {
		return failover.State{}, err
	}
	return s.state(group, failover.Config{}), nil
}

func (t *Table) readState(ctx context.Context, group string) (stored, error) {
	it, err := t.get(ctx, groupPK(group), skState)
	if err != nil {
		if errors.Is(err, control.ErrNotFound) {
			err = fmt.Errorf("group %q has no state: create it with the resource hadr_group: %w", group, err)
		}
		return stored{}, err
	}
	var s stored
	if err := decode(it, &s.authority); err != nil {
		return stored{}, err
	}
	if err := decode(it, &s.switches); err != nil {
		return stored{}, err
	}
	return s, nil
}
