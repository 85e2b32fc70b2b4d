// Package db2 simulates a Db2 instance that takes part in HADR: the process
// db2sysc with its log, the HADR state machine and peer window, and the commands
// db2, db2pd, db2start and db2stop with the texts that they print as 10.5, 11.1,
// 11.5 or 12.1.
//
// It follows these pages:
//
//   - States and their order, reconnecting, the 2 s retry of the standby:
//     https://www.ibm.com/docs/en/db2/11.5.x?topic=support-hadr-standby-database-states
//
//   - Peer window: refreshed by heartbeats in peer state, frozen on the standby
//     when the connection is lost, log writes of the primary blocked until its
//     end: https://www.ibm.com/docs/en/db2/11.5.x?topic=dhadr-setting-hadr-timeout-hadr-peer-window-database-configuration-parameters
//
//   - Commit rules of SYNC, NEARSYNC, ASYNC and SUPERASYNC:
//     https://ibm.github.io/db2-hadr-wiki/hadrSyncMode.html
//
//   - TAKEOVER HADR, its variants and the 5 s margin of PEER WINDOW ONLY:
//     https://www.ibm.com/docs/en/db2/11.5.x?topic=commands-takeover-hadr and
//     https://ibm.github.io/db2-hadr-wiki/hadrTakeover.html
//
//   - START, STOP HADR, activation, the wait for the standby (SQL1768N reason
//     7) and the old primary (SQL1776N reason 6):
//     https://ibm.github.io/db2-hadr-wiki/hadrCommands.html
//
//   - Reintegration of an old primary and what spoils it:
//     https://www.ibm.com/docs/en/db2/11.5.x?topic=dhadr-reintegrating-database-after-takeover-operation
//
//   - Fields of db2pd -hadr: https://ibm.github.io/db2-hadr-wiki/hadrMonitoring.html
//     and https://www.ibm.com/docs/en/db2/11.5.x?topic=commands-db2pd-monitor-troubleshoot-db2-engine-activities
//
//   - Exit codes of the command line processor:
//     https://www.ibm.com/docs/en/db2/11.5.x?topic=clp-return-codes
//
//   - Reads on standby, DB2_HADR_ROS:
//     https://www.ibm.com/docs/en/SSEPGG_11.1.0/com.ibm.db2.luw.admin.ha.doc/doc/c0054257.html and, for
//     SQL1773N reason 5 and connections during local catch-up,
//     https://www.ibm.com/support/knowledgecenter/en/SSEPGG_10.1.0/com.ibm.db2.luw.admin.ha.doc/doc/c0054258.html
//
//   - HADR_REPLAY_DELAY and DB2_HADR_PEER_WAIT_LIMIT:
//     https://ibm.github.io/db2-hadr-wiki/hadrConfig.html
//
// Reason codes appear only where a page or a capture confirms them; elsewhere
// a message comes without one.
//
// Choices where Db2 leaves the order open: in NEARSYNC Db2 writes its own log
// and sends it in parallel; here the local write is the one that ends last, so
// that the log of a primary that crashed in peer state is a prefix of its
// standby's. A db2stop writes a log record that never reaches the standby (in
// reality "in some cases"), so that a graceful stop always spoils
// reintegration.
//
// # Disks
//
// An instance lives in home/<owner>/sqllib of its machine's directory:
// instance.json, <DATABASE>/db.json (configuration and role), <DATABASE>/active.log
// (one line per log record, readable with [Rows] whatever runs) and
// db2dump/db2diag.log.
//
// # Ports
//
// Applications use the instance's port (50000) with a line protocol:
// "COMMIT <client> <seq>" is answered with "ACK <node> <position>" once Db2
// would have returned from the commit, or with "ERR <message>". The commands
// reach db2sysc through a port on the loopback address.
package db2
