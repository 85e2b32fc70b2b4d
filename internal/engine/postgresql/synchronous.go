package postgresql

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	standbyList = regexp.MustCompile(`(?i)^(?:(first|any)\s+)?(\d+)\s*\((.*)\)$`)
	standbyName = regexp.MustCompile(`^("(?:[^"]|"")+"|[^\s",()]+)$`)
)

// waitsFor says why a commit under synchronous_standby_names may be
// acknowledged although the standby of this name has it not, "" if it may not
// (https://www.postgresql.org/docs/15/runtime-config-replication.html#GUC-SYNCHRONOUS-STANDBY-NAMES).
func waitsFor(names, commit, node string) string {
	if strings.TrimSpace(names) == "" {
		return "synchronous_standby_names is empty: commits wait for no standby"
	}
	wanted, listed, err := parseStandbys(names)
	if err != nil {
		return err.Error()
	}
	switch {
	case slices.Contains(listed, "*"):
		return fmt.Sprintf("synchronous_standby_names is %s: any program that receives the log may confirm a commit", names)
	case !slices.Contains(listed, strings.ToLower(node)):
		return fmt.Sprintf("synchronous_standby_names is %s: commits do not wait for %s", names, node)
	case wanted < len(listed):
		return fmt.Sprintf("synchronous_standby_names is %s: %d of %d standbys confirm a commit, and that need not be %s", names, wanted, len(listed), node)
	case commit != "on" && commit != "remote_apply":
		return fmt.Sprintf("synchronous_commit is %s: a commit does not wait for the standby's disk", commit)
	}
	return ""
}

// parseStandbys reads how many of which standbys confirm a commit. Names are
// compared without regard to case.
func parseStandbys(names string) (wanted int, listed []string, err error) {
	list := strings.TrimSpace(names)
	wanted = 1
	if m := standbyList.FindStringSubmatch(list); m != nil {
		list = m[3]
		if wanted, err = strconv.Atoi(m[2]); err != nil {
			return 0, nil, fmt.Errorf("synchronous_standby_names %q: %w", names, err)
		}
	}
	for _, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		if !standbyName.MatchString(name) {
			return 0, nil, fmt.Errorf("synchronous_standby_names %q is not understood", names)
		}
		if strings.HasPrefix(name, `"`) {
			name = strings.ReplaceAll(name[1:len(name)-1], `""`, `"`)
		}
		listed = append(listed, strings.ToLower(name))
	}
	return wanted, listed, nil
}
