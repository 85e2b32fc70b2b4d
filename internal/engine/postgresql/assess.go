package postgresql

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/document"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// oldest is the first version whose pg_stat_wal_receiver tells what is written
// and what is flushed
// (https://www.postgresql.org/docs/release/13.0/).
const oldest = 130000

// promotionLimit is how long a promotion may run, and what its host may add to
// that. After it a mark of one is left behind.
const promotionLimit = 5 * time.Minute

// commitWait is how long a commit may wait for its standby before that explains
// slow SQL (R4).
const commitWait = time.Second

// pingGrace is how long an answer to a standby's ping may take.
const pingGrace = 2 * time.Second

// assess fills in what the status document's output tells about a node.
func assess(o *failover.Observation, s Settings, node string, r Report) {
	o.HostTime = r.HostTime
	if r.Database == nil {
		assessTrouble(o, r)
		return
	}
	db := *r.Database
	if db.Version < oldest {
		unreadable(o, fmt.Sprintf("PostgreSQL of version %d.%d: 13 is the oldest that is supported; upgrade the server", db.Version/10000, db.Version%10000))
		return
	}
	ran := r.HostTime.Sub(r.Promoting)
	if db.Recovery && !r.Promoting.IsZero() && ran >= 0 && ran < promotionLimit {
		unreadable(o, fmt.Sprintf("a promotion runs on it for %s: its role may change at any moment", ran.Round(time.Second)))
		return
	}
	o.Answer, o.Database, o.Position = failover.Answered, failover.DatabaseActive, uint64(db.Flushed)
	o.SyncMode = string(s.Mode)
	if db.Recovery {
		o.Role = failover.RoleStandby
		assessStandby(o, s, node, r)
		return
	}
	o.Role = failover.RolePrimary
	o.Fitness, o.FitnessWhy = failover.Unfit, "it is primary already"
	assessPrimary(o, s, node, db)
}

func unreadable(o *failover.Observation, why string) {
	o.Answer, o.AnswerError = failover.Unreadable, why
}

// assessTrouble explains a server that gave no answer. A process that lives is
// not down: it may start, recover or hang.
func assessTrouble(o *failover.Observation, r Report) {
	if r.Runs {
		unreadable(o, "the server runs and gives no answer: "+document.Beginning(r.Answer))
		return
	}
	o.Answer, o.Database, o.StoppedInOrder = failover.Answered, failover.DatabaseDown, r.Stopped
	o.Role = map[string]failover.Role{"primary": failover.RolePrimary, "standby": failover.RoleStandby}[r.OnDisk]
	o.Fitness, o.FitnessWhy, o.FitnessNext = failover.Unfit, "its server does not run", "look at the server's log, then start it (pg_ctl start)"
	if r.Rewinding {
		o.FitnessWhy, o.FitnessNext = "pg_rewind did not end on it: its data are neither the old nor the new ones", reseedNext
	}
}

// assessPrimary: who replicates, and whether commits wait.
func assessPrimary(o *failover.Observation, s Settings, node string, db Database) {
	o.State = "read_write"
	if db.ReadOnly {
		o.State = "read_only"
	}
	i := slices.IndexFunc(db.Senders, func(x Sender) bool { return x.Name != "" && x.Name != node && s.knows(x.Name) })
	o.PartnerStatus = "none"
	if i >= 0 {
		standby := db.Senders[i]
		o.PartnerStatus = withLag(standby.State+" "+standby.Sync, standby.Lag(db.Flushed))
	}
	o.PartnerLost = i < 0
	// Who tells it not to wait has to let the window pass before the standby dies.
	if other := s.other(node); s.Mode == Sync && other != "" && waitsFor(db.SynchronousNames, db.SynchronousCommit, other) == "" {
		o.BlockedUntil = o.HostTime.Add(s.Window)
	}
	confirms := slices.ContainsFunc(db.Senders, func(x Sender) bool { return x.Sync == "sync" || x.Sync == "quorum" })
	o.WaitsForStandby = db.SynchronousNames != "" && (!confirms || time.Duration(db.Waits) >= commitWait)
	if s.Mode == Async && db.SynchronousNames != "" {
		o.SettingsDiffer = fmt.Sprintf("synchronous_standby_names is %s, declared async", db.SynchronousNames)
	}
}

// withLag adds to a status how far the standby is behind, if people want to
// know.
func withLag(status string, l Lag) string {
	if !l.noteworthy() {
		return status
	}
	return status + ", behind by " + l.String()
}

// knows reports whether a standby is a node of the group; where no addresses
// are declared, any may be.
func (s Settings) knows(name string) bool {
	_, known := s.Addresses[name]
	return known || len(s.Addresses) == 0
}

// assessStandby: what it has, and until when that is proven.
func assessStandby(o *failover.Observation, s Settings, node string, r Report) {
	db := *r.Database
	o.State, o.PartnerStatus = "disconnected", "none"
	contact := r.Contact
	if rec := db.Receiver; rec != nil {
		o.PartnerStatus = withLag(rec.Status, db.Lag(r.HostTime))
		if rec.Status == "streaming" {
			o.State, o.ConnectedSince = "streaming", rec.Since.Time
			contact = Contact{Heard: rec.Heard.Time, Missing: rec.Flushed.behind(rec.PrimaryEnd)}
		}
	}
	o.PartnerSilence, o.PartnerLost = silence(db, contact, r)
	if db.Paused {
		o.State = "paused"
	}
	if since := s.proven(contact, r); !since.IsZero() {
		o.PromoteUntil = since.Add(s.Window)
		if o.State == "disconnected" {
			o.ProvenUntil, o.HeardLast = since, contact.Heard
		}
		if o.State == "disconnected" && s.Mode == Sync && waitsFor(r.Waiting.Names, r.Waiting.Commit, node) == "" {
			o.ProvenUntil = o.PromoteUntil
		}
	}
	o.Fitness = failover.Fit
	if why, next := unfit(s, node, contact, r); why != "" {
		o.Fitness, o.FitnessWhy, o.FitnessNext = failover.Unfit, why, next
	}
}

// proven is the moment until which a standby certainly has every commit that its
// primary acknowledged, or, under synchronous replication, from which on the
// primary can't have acknowledged one without it unless somebody has told it
// not to wait since: then it had everything, and its primary said that it waits.
func (s Settings) proven(c Contact, r Report) time.Time {
	since := covered(c, r.Database.LastCommit.Time)
	if s.Mode == Sync && r.Waiting.Asked.Before(since) {
		return r.Waiting.Asked
	}
	return since
}

// silence is since when a standby hears nothing, and whether that counts as
// lost. A quiet primary answers the ping that a standby sends after half of
// wal_receiver_timeout
// (https://www.postgresql.org/docs/15/runtime-config-replication.html#GUC-WAL-RECEIVER-TIMEOUT).
func silence(db Database, c Contact, r Report) (since time.Duration, lost bool) {
	now := db.Now.Time // on a busy host the report's own time is later
	if now.IsZero() {
		now = r.HostTime
	}
	if !c.Heard.IsZero() && !now.IsZero() {
		since = max(0, now.Sub(c.Heard))
	}
	if db.Receiver == nil || db.Receiver.Status != "streaming" {
		return since, true
	}
	ping := time.Duration(db.ReceiverTimeout)/2 + pingGrace
	return since, db.ReceiverTimeout > 0 && since > ping
}

const (
	lookNext   = "psql -c 'SELECT * FROM pg_stat_wal_receiver' on it, and the server's log"
	lossNext   = "if the primary can be started, start it; a promotion now could lose commits, and only a person may order it"
	reseedNext = "pg_basebackup from the primary (docs/guides/postgresql.md), then rejoin it"
)

// unfit says why a standby may not be promoted without more loss than declared,
// and what a human does about it; "" if it may.
func unfit(s Settings, node string, c Contact, r Report) (why, next string) {
	since := s.proven(c, r)
	if full, ok := errors.AsType[SetupError](setupOfFiles(r)); ok {
		return full.Setup()
	}
	switch {
	case r.Database.Paused:
		return "its replay is paused: somebody holds it at an older state", "SELECT pg_wal_replay_resume() on it"
	case r.HostTime.IsZero():
		return "its clock could not be read, so the age of what it has can't be told", lookNext
	case covered(c, r.Database.LastCommit.Time).IsZero():
		return "it has never heard of its primary, so nothing tells what it lacks", lookNext
	}
	if s.Mode == Sync {
		if why, next := unprotected(node, r.Waiting); why != "" {
			return why, next
		}
	} else if c.Missing > s.MaxLag {
		return fmt.Sprintf("it lacked %d bytes of the log when it last heard of its primary, and max_lag_bytes is %d", c.Missing, s.MaxLag), lookNext
	}
	if age := r.HostTime.Sub(since); age > s.Window {
		limit := "sync_window_seconds"
		if s.Mode == Async {
			limit = "max_rpo_seconds"
		}
		return fmt.Sprintf("the last proof of what it has is %.0f s old, and %s is %.0f", age.Seconds(), limit, s.Window.Seconds()), lossNext
	}
	return "", ""
}

// unprotected says why acknowledged commits may be missing on a synchronous
// standby.
func unprotected(node string, w Waiting) (why, next string) {
	if w.Asked.IsZero() {
		return "its primary has not been asked whether commits wait for it",
			"allow the replication role to connect to the primary from here (pg_hba.conf, .pgpass), and see address_NODE"
	}
	if why := waitsFor(w.Names, w.Commit, node); why != "" {
		return why, fmt.Sprintf(`on the primary: ALTER SYSTEM SET synchronous_standby_names = '"%s"'; SELECT pg_reload_conf()`, node)
	}
	return "", ""
}
