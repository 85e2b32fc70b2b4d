// Package detection is a model of how long it takes to notice that a primary
// has failed, how often a healthy one is suspected, and what that costs.
//
// Its parts are detectors (metric alarms, the lease, the standby's own view) and
// sets of them. Alarms are evaluated by internal/alarm, with the code that the
// sandbox runs. The package is pure: randomness comes from a seed, and the same
// seed gives the same figures.
package detection
