// Package alarm is a model of Amazon CloudWatch alarms as the documentation and
// captures of the service describe them: when an alarm is evaluated, which
// datapoints it sees, what missing data does to it, metric math, composite
// alarm rules, action suppression, and the texts and events that it leaves.
//
// The package is pure: it has no clock, no store and no I/O. Whoever uses it
// (the sandbox, a simulation of detection times, the takeover function) brings
// the time and the data.
package alarm
