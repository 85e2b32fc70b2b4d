package demo

// scenarios are all scenarios.
var scenarios = []Scenario{
	{Name: "vanish", Short: "the primary's host is gone, and EC2 says running", Rules: []string{"R8", "R10", "R14", "R15", "R25"}, play: vanish, processes: true},
	{Name: "db2-killed", Short: "the database server of the primary is killed", Rules: []string{"R8", "R15"}, play: db2Killed, processes: true},
	{Name: "hang", Short: "SQL on the primary answers never, while HADR stays connected", Rules: []string{"R5", "R8"}, play: hang},
	{Name: "slow", Short: "SQL on the primary takes 25 s, which counts as failed", Rules: []string{"R5", "R8"}, play: slow},
	{Name: "standby-died", Short: "the standby is gone and commits block on the primary: no takeover", Rules: []string{"R4"}, play: standbyDied},
	{Name: "az-cut", Short: "the network between the nodes is cut: no takeover", Rules: []string{"R4"}, play: azCut},
	{Name: "maintenance", Short: "maintenance set in the table holds a takeover back; ended, watch takes over", Rules: []string{"R3", "R11"}, play: maintained, processes: true},
	{Name: "standby-behind", Short: "the primary dies while its standby lacks commits: refused, later started in place", Rules: []string{"R19", "R31"}, play: standbyBehind},
	{Name: "duplicate-event", Short: "the alarm's event comes three times, once long after", Rules: []string{"R2", "R3"}, play: duplicateEvent},
	{Name: "function-crash", Short: "the takeover function is killed after each of its effects", Rules: []string{"R2", "R21", "R23", "R32"}, play: functionCrash, repeats: true},
	{Name: "one-route-denied", Short: "one of two route tables can't be changed; later watch completes it", Rules: []string{"R26"}, play: oneRouteDenied},
	{Name: "promotion-denied", Short: "the takeover command can't be sent after the fence: the old primary is started again", Rules: []string{"R20", "R23"}, play: promotionDenied},
	{Name: "stop-rejected", Short: "stop protection rejects the fence: nothing is promoted", Rules: []string{"R15"}, play: stopRejected, processes: true},
	{Name: "stop-hangs", Short: "the old primary stays at stopping: blocked and loud, until it stops", Rules: []string{"R16", "R17"}, play: stopHangs},
	{Name: "operator-takeover", Short: "somebody switches the roles by hand: record, route and history follow", Rules: []string{"R7"}, play: operatorTakeover},
	{Name: "old-primary-returns", Short: "EC2 starts the fenced host again: it is stopped again, the VIP stays", Rules: []string{"R18"}, play: oldPrimaryReturns},
	{Name: "second-failure", Short: "the old primary is back as standby, and the new one fails", Rules: []string{"R18", "R28", "R30"}, play: secondFailure},
	{Name: "switchover", Short: "a person changes the roles in order, and back", Rules: []string{"R14", "R25"}, play: switchedOver},
	{Name: "approval", Short: "the policy lets a person decide, and the person agrees in time", Rules: []string{"R9"}, play: approved},
	{Name: "new-primary-alone", Short: "the new primary reboots while the old one is fenced: it starts without a standby", Rules: []string{"R29", "R31"}, play: newPrimaryAlone},
	{Name: "window-missed", Short: "the window ends before the promotion and the old primary is gone: a person takes over, nothing is lost", Rules: []string{"R19", "R20"}, play: windowMissed},
	{Name: "data-loss-accepted", Short: "the standby lacks commits and the old primary is gone: a person accepts the loss", Rules: []string{"R19"}, play: dataLoss},
	{Name: "apply-in-the-middle", Short: "the declaration is changed during a takeover: refused", Rules: []string{"R13"}, play: applyInTheMiddle},
}
