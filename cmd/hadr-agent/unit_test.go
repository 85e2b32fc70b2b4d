package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestUnitKeepsTheRightsItNeeds: what the unit takes away, root has not
// (https://man7.org/linux/man-pages/man7/capabilities.7.html).
func TestUnitKeepsTheRightsItNeeds(t *testing.T) {
	unit, err := os.ReadFile("package/hadr-agent.service")
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for line := range strings.Lines(string(unit)) {
		if set, ok := strings.CutPrefix(line, "CapabilityBoundingSet="); ok {
			kept = append(kept, strings.Fields(set)...)
		}
	}
	for right, use := range map[string]string{
		"CAP_SETUID":     "becoming the owner of the database (runuser)",
		"CAP_SETGID":     "the same",
		"CAP_KILL":       "ending the processes of a database, which are another user's",
		"CAP_SYS_PTRACE": "finding them by their directory (/proc/PID/cwd)",
		"CAP_NET_ADMIN":  "binding the address",
	} {
		if !slices.Contains(kept, right) {
			t.Errorf("the unit takes %s away, which is for %s", right, use)
		}
	}
}
