package provider

import (
	"context"
	"maps"
	"slices"
	"time"
)

// AWS is eventually consistent: a new role or table is known everywhere only
// after some seconds. The bound is that of AWS's own provider for IAM:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot.html#troubleshoot_general_eventual-consistency
const (
	propagationTimeout = 2 * time.Minute
	propagationPause   = 2 * time.Second
)

// eventually calls do until it succeeds or fails with an error that is not
// "not yet", for two minutes at most.
func (c *clients) eventually(ctx context.Context, do func() error, notYet func(error) bool) error {
	end := c.clock.Now().Add(propagationTimeout)
	for {
		err := do()
		if err == nil || !notYet(err) || !c.clock.Now().Before(end) {
			return err
		}
		if cause := c.clock.Sleep(ctx, propagationPause); cause != nil {
			return err
		}
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
