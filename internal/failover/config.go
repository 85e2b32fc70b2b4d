package failover

import "time"

// Defaults of a Config. They bound every wait of the core, so that no
// operation can hang without a word.
const (
	DefaultLatencyThreshold = 20 * time.Second
	DefaultMaxClockOffset   = 2 * time.Second
	DefaultPromoteMargin    = 10 * time.Second
	DefaultPromoteDelay     = 15 * time.Second
	DefaultGatherTimeout    = 3 * time.Second
	DefaultEvidenceWait     = 60 * time.Second
	DefaultFenceTimeout     = 90 * time.Second
	DefaultPromoteTimeout   = 60 * time.Second
	DefaultRedirectTimeout  = 60 * time.Second
	DefaultCooldown         = 15 * time.Minute

	// clockOffsetAge is how old a measurement of the clocks may be (R8).
	clockOffsetAge = 10 * time.Minute
	// probeAge is how old a committed probe may be to count as a sign of life:
	// two intervals of the agent and some slack.
	probeAge = 45 * time.Second
	// badProbeAge is how old the last bad one may be to count against a primary:
	// two intervals of the slowest agent that can be declared.
	badProbeAge = 2 * time.Minute
	// logAge is how old the last word of a standby's agent may be that its primary
	// sends log. Agents write with every probe, and AWS may be slow.
	logAge = time.Minute
	// settling is how long a standby must have been connected before a
	// cool-down may end early (R30).
	settling = time.Minute
)

// sealSlack is what a takeover that begins with just enough of the window left
// has for its seal: a fifth of that, and not more than this.
const sealSlack = 5 * time.Second

// LastSeal is how long before the end of its window a primary whose standby is
// silent looks at its lease for the last time (R16). It is below what a takeover
// needs of the window at its start (R8). What is sealed later it does not see.
func (c Config) LastSeal() time.Duration {
	c = c.WithDefaults()
	need := c.PromoteDelay + c.PromoteMargin
	return need - min(sealSlack, need/5)
}

// WithDefaults fills in what is not declared.
func (c Config) WithDefaults() Config {
	set := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	set(&c.LatencyThreshold, DefaultLatencyThreshold)
	set(&c.MaxClockOffset, DefaultMaxClockOffset)
	set(&c.PromoteMargin, DefaultPromoteMargin)
	set(&c.PromoteDelay, DefaultPromoteDelay)
	set(&c.GatherTimeout, DefaultGatherTimeout)
	set(&c.EvidenceWait, DefaultEvidenceWait)
	set(&c.FenceTimeout, DefaultFenceTimeout)
	set(&c.PromoteTimeout, DefaultPromoteTimeout)
	set(&c.RedirectTimeout, DefaultRedirectTimeout)
	set(&c.Cooldown, DefaultCooldown)
	if c.Policy == "" {
		c.Policy = Automatic
	}
	if c.Fencing == "" {
		c.Fencing = Strict
	}
	return c
}
