package simulation

import (
	"reflect"
	"testing"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/fault"
)

// TestStoriesNeedEverything: among some hundred seeds there is every deed, and
// every fault that a group in one Region can meet; all of them are well formed.
func TestStoriesNeedEverything(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(600) {
		s := Draw(seed)
		for _, i := range s.Incidents {
			seen[i.Kind()] = true
			if i.Fault == nil {
				continue
			}
			f := *i.Fault
			for _, node := range []*string{&f.Instance, &f.Place, &f.Peer} {
				switch *node { // as the stage names its instances
				case "a":
					*node = "i-0123456789abcdef0"
				case "b":
					*node = "i-0123456789abcdef1"
				}
			}
			if err := f.Check(); err != nil {
				t.Errorf("seed %d: %s: %v", seed, i, err)
			}
		}
	}
	for _, about := range fault.Kinds() {
		if about.Kind != fault.ReplicationLag && !seen[string(about.Kind)] {
			t.Errorf("no story has the fault %s", about.Kind)
		}
	}
	for _, deed := range []Deed{
		Takeover, Reboot, Start, Maintenance, WatchOff, Death,
		AskTakeover, AskAfterWindow, AskSwitchover, AskRejoin, Release, Resume, Cancel, Acknowledge, Approve,
	} {
		if !seen[string(deed)] {
			t.Errorf("no story has the deed %s", deed)
		}
	}
}

func TestStoryFollowsFromItsSeed(t *testing.T) {
	for seed := range uint64(50) {
		if a, b := Draw(seed), Draw(seed); !reflect.DeepEqual(a, b) {
			t.Errorf("seed %d has two stories:\n%s\n%s", seed, a, b)
		}
	}
}
