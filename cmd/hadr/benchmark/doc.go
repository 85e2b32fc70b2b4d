// Package benchmark measures, in virtual time and with assumed latencies of AWS
// and Db2, what the product is for: the time from a failure of the primary to the
// first write that the new one acknowledges, and the number of takeovers on days
// on which nothing failed.
//
// Failures (Fail) are played in the embedded sandbox: the real functions, runner,
// adapters and agents with their scripts, the sandbox's DynamoDB, EC2, Systems
// Manager, CloudWatch, Lambda and its simulated pair of databases. The profile
// says how long each call, event, command, stop, change of a route and takeover
// takes. A client writes over a new connection every 100 ms, so that the time that
// applications wait before they connect again is not in the figures. Where there
// is a lease, fencing is peer_window; without one it is strict, as nothing
// vouches for the old primary.
//
// Days without a failure (Quiet) cost too much there, as the agents act every
// second. They play the real agents, functions, core and evaluation of alarms on
// a model of what is beneath; its comment says what that leaves out. Notice times
// on the same model how a failure is noticed, which the figures of hadr simulate
// detection are compared with.
package benchmark
