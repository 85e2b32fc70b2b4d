package failover

import (
	"fmt"
	"time"
)

// Unseal lets the holder of a lease renew it again, if the seal on it is still
// the one that was seen.
type Unseal struct {
	Node   string
	SealID string
}

func (Unseal) isEffect() {}

// sealPatience is how old a seal is before it counts as left behind: whoever
// seals claims the group within a second or two. It is a courtesy to him, not
// what makes the unsealing safe.
const sealPatience = 15 * time.Second

// unsealed takes a seal off the lease that no claim has followed: whoever sealed
// it died, met maintenance, or lost the race. Until then its holder can't renew
// it, and would be ended by its dead-man if it lost its standby, too.
//
// A claim raises the epoch, so that nothing has come of a seal of the present
// one. That nothing comes of it any more is made sure of first: it goes onto the
// record as void, and a claim that was decided before meets another version of
// the record (R11). Whoever seals after that puts another seal on the lease,
// which this one's end leaves alone (R10).
func (s State) unsealed(e Watched) (State, []Effect) {
	l := e.Lease
	if !l.Sealed || l.SealID == "" || l.Epoch != s.Epoch || e.At.Sub(l.SealedAt) < sealPatience {
		return s, nil
	}
	unseal := Unseal{Node: l.Holder, SealID: l.SealID}
	if s.VoidSeal == l.SealID { // whoever noted that died before he took it off
		return s, []Effect{unseal}
	}
	s.VoidSeal = l.SealID
	entry := Entry{
		At: e.At, OperationID: l.SealedBy, Event: "unsealed", Epoch: s.Epoch, From: l.Holder, Actor: "watch", Outcome: "unsealed",
		Reason: fmt.Sprintf("operation %s sealed the lease of node %s at %s and did not claim the group: it can be renewed again", l.SealedBy, l.Holder, stamp(l.SealedAt)),
		Next:   "hadr status " + s.Group,
	}
	return s, []Effect{Record{Entry: entry}, unseal}
}

// sealedLate reports whether the seal came too late for the old primary's
// dead-man to see it: then nothing ends that node before its window does, and
// only a stop that is read will do (R16).
func (s State) sealedLate(at time.Time) bool {
	a := s.Attempt
	return a.Fencing == PeerWindow && !a.WindowEnd.IsZero() && s.on(R16) &&
		a.WindowEnd.Sub(at) < s.Config.LastSeal()+s.Config.MaxClockOffset
}
