package db2

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// The clock of the standby in all samples of our own.
var hostNow = time.Unix(1772445600, 0).UTC()

var declared = Settings{Database: "HADRDB", SyncMode: "NEARSYNC", PeerWindow: 300, Timeout: 60}

func observe(s Settings, output string) failover.Observation {
	o := failover.Observation{Node: "b"}
	assess(&o, s, Report{HostTime: hostNow, DB2PD: output})
	return o
}

// What the samples mean.
func TestAssess(t *testing.T) {
	tests := []struct {
		file     string
		settings func(*Settings)
		role     failover.Role
		fitness  failover.Fitness
		left     time.Duration // until the promotion is refused; 0 = no window
		lost     bool          // partner
		waits    bool          // for its standby (R4)
		says     string        // why it is unfit
	}{
		{file: "s01-standby-peer-normal.txt", role: "standby", fitness: "fit", left: 293 * time.Second},
		{file: "s02-primary-peer-normal.txt", role: "primary", fitness: "unfit", says: "primary already"},
		{file: "s03-standby-disconnected-peer-in-window.txt", role: "standby", fitness: "fit", left: 215 * time.Second, lost: true},
		{file: "s04-standby-disconnected-peer-exactly-5s.txt", role: "standby", fitness: "fit", left: 0, lost: true},
		{file: "s05-standby-disconnected-peer-inside-margin.txt", role: "standby", fitness: "unfit", left: -1 * time.Second, lost: true, says: "window ends"},
		{file: "s06-standby-remote-catchup-pending-after-window.txt", role: "standby", fitness: "unfit", lost: true, says: "REMOTE_CATCHUP_PENDING"},
		{file: "s07-standby-never-connected-nulls.txt", role: "standby", fitness: "unfit", lost: true, says: "REMOTE_CATCHUP_PENDING"},
		{file: "s09-primary-disconnected.txt", role: "primary", fitness: "unfit", lost: true},
		{file: "s10-primary-disconnected-peer-log-blocked.txt", role: "primary", fitness: "unfit", lost: true, waits: true},
		{file: "s11-primary-congested.txt", role: "primary", fitness: "unfit", waits: true},
		{file: "s13-standby-remote-catchup-gap.txt", role: "standby", fitness: "unfit", says: "catching up"},
		{file: "s14-standby-superasync.txt", role: "standby", fitness: "unfit", says: "SUPERASYNC",
			settings: func(s *Settings) { s.SyncMode = "SUPERASYNC" }},
		{file: "s16-primary-three-standbys-one-gone.txt", role: "primary", fitness: "unfit"},
		{file: "s24-standby-silent-dead-primary.txt", role: "standby", fitness: "fit", left: 248 * time.Second, lost: true},
		{file: "s25-standby-local-catchup.txt", role: "standby", fitness: "unfit", lost: true, says: "LOCAL_CATCHUP"},
		{file: "s26-primary-remote-catchup-pending-connected.txt", role: "primary", fitness: "unfit"},
		{file: "s27-standby-flags-device-full.txt", role: "standby", fitness: "unfit", left: 293 * time.Second, says: "log device"},
		{file: "s34-unknown-future-field-and-state.txt", role: "standby", fitness: "unfit", says: "SOMETHING_NEW"},
		{file: "s35-no-epoch-in-dates.txt", role: "standby", fitness: "unfit", says: "no peer window"},
		{file: "s45-two-databases-alldbs.txt", role: "standby", fitness: "fit", left: 293 * time.Second},
		{file: "s45-two-databases-alldbs.txt", role: "primary", fitness: "unfit",
			settings: func(s *Settings) { s.Database = "otherdb" }},
		{file: "s01-standby-peer-normal.txt", role: "standby", fitness: "unfit", left: 293 * time.Second, says: "declared 120 s",
			settings: func(s *Settings) { s.PeerWindow = 120 }},
		{file: "s47-new-primary-alone-after-forced-takeover.txt", role: "primary", fitness: "unfit", lost: true},
		{file: "r18-hadr-not-active.txt", role: "standalone", fitness: "unfit", says: "no HADR",
			settings: func(s *Settings) { s.Database = "SAMPLE" }},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			s := declared
			if tt.settings != nil {
				tt.settings(&s)
			}
			o := observe(s, readFile(t, "testdata/db2pd/"+tt.file))
			if o.Answer != failover.Answered || o.Role != tt.role || o.Fitness != tt.fitness {
				t.Errorf("answer %q, role %q, %q (%s); want %q, %q", o.Answer, o.Role, o.Fitness, o.FitnessWhy, tt.role, tt.fitness)
			}
			var left time.Duration
			if !o.PromoteUntil.IsZero() {
				left = o.PromoteUntil.Sub(hostNow)
			}
			if left != tt.left {
				t.Errorf("%s are left for a promotion, want %s", left, tt.left)
			}
			if o.PartnerLost != tt.lost || o.WaitsForStandby != tt.waits {
				t.Errorf("partner lost %v, waits for its standby %v; want %v, %v", o.PartnerLost, o.WaitsForStandby, tt.lost, tt.waits)
			}
			if !strings.Contains(o.FitnessWhy+o.SettingsDiffer, tt.says) {
				t.Errorf("why: %q, want %q", o.FitnessWhy, tt.says)
			}
			if o.Role == failover.RoleStandby && o.Fitness == failover.Unfit && o.FitnessNext == "" {
				t.Error("no next command")
			}
		})
	}
}

// A standby without room for log reads no further: that it hears nothing of its
// primary is its own doing, until the connection is gone.
func TestSilenceOfAFullStandby(t *testing.T) {
	text := strings.Replace(readFile(t, "testdata/db2pd/s27-standby-flags-device-full.txt"), "TIME_SINCE_LAST_RECV(seconds) = 2", "TIME_SINCE_LAST_RECV(seconds) = 200", 1)
	for name, tt := range map[string]struct {
		text string
		lost bool
	}{
		"full":                  {text, false},
		"full and disconnected": {strings.Replace(text, "HADR_CONNECT_STATUS = CONNECTED", "HADR_CONNECT_STATUS = DISCONNECTED", 1), true},
		"not full":              {strings.Replace(text, "STANDBY_LOG_DEVICE_FULL ", "", 1), true},
	} {
		if o := observe(declared, tt.text); o.PartnerLost != tt.lost || o.PartnerSilence < 200*time.Second {
			t.Errorf("%s: lost %t, silent for %s", name, o.PartnerLost, o.PartnerSilence)
		}
	}
}

// Output that is no answer is unknown, never good.
func TestAssessTrouble(t *testing.T) {
	const notActive = "\nDatabase HADRDB not activated on database member 0 or this database name cannot be found in the local database directory.\n"
	tests := []struct {
		name     string
		report   Report
		answer   failover.Answer
		database failover.DatabaseState
		role     failover.Role
	}{
		{"instance down", Report{DB2PD: "Unable to attach to database manager on member 0.\n"}, failover.Answered, failover.DatabaseDown, ""},
		{"not active, role on disk", Report{DB2PD: notActive, Config: " HADR database role                                      = STANDBY\n"}, failover.Answered, failover.DatabaseInactive, failover.RoleStandby},
		{"not active, no configuration: role unknown", Report{DB2PD: notActive, Config: "SQL1013N  no such alias"}, failover.Answered, failover.DatabaseInactive, ""},
		{"structure changing", Report{DB2PD: "Changing data structure forced command termination.\n"}, failover.Unreadable, "", ""},
		{"nothing", Report{}, failover.Unreadable, "", ""},
		{"something else", Report{DB2PD: "-ksh: db2pd: not found [No such file or directory]"}, failover.Unreadable, "", ""},
		{"another database", Report{DB2PD: strings.ReplaceAll(readFile(t, "testdata/db2pd/s01-standby-peer-normal.txt"), "HADRDB", "OTHER")}, failover.Unreadable, "", ""},
		{"role that is not known", Report{DB2PD: strings.ReplaceAll(readFile(t, "testdata/db2pd/s01-standby-peer-normal.txt"), "= STANDBY", "= WITNESS")}, failover.Unreadable, failover.DatabaseActive, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := failover.Observation{}
			assess(&o, declared, tt.report)
			if o.Answer != tt.answer || o.Database != tt.database || o.Role != tt.role || o.Fitness == failover.Fit {
				t.Errorf("answer %q, database %q, role %q, %q; want %q, %q, %q", o.Answer, o.Database, o.Role, o.Fitness, tt.answer, tt.database, tt.role)
			}
		})
	}
}

type matrixRow struct {
	ID       string
	Kind     string
	Decision string
	Given    struct {
		StandbyRole   string  `json:"standby_role"`
		StandbyState  *string `json:"standby_state"`
		ConnectStatus *string `json:"connect_status"`
		SyncMode      string
		SecondsToEnd  *float64 `json:"seconds_to_peer_window_end"`
		PeerWindow    *int64   `json:"peer_window_s"`
		Flags         []string
		Trigger       string
		DB2PDError    string  `json:"db2pd_error"`
		ClockOffset   float64 `json:"clock_offset_s"`
		FenceResult   string  `json:"fence_result"`
		LastResult    string  `json:"last_result"`
	}
}

// The decision table, as far as it rests on the standby's own view: whoever
// takes over by force needs a fit standby, and whoever is sent to a human
// because of the standby has an unfit one. What other nodes, fences and clocks
// add to a decision is the core's.
func TestDecisionMatrix(t *testing.T) {
	tried := 0
	for _, row := range oracle[matrixRow](t, "takeover_matrix.json") {
		g := row.Given
		if row.Kind != "decision" || g.StandbyRole == "" || g.Trigger != "failure" || g.ClockOffset != 0 || g.FenceResult != "" || g.LastResult == "SQL1770N/9" {
			continue
		}
		tried++
		t.Run(row.ID, func(t *testing.T) {
			o := failover.Observation{}
			s := declared
			s.SyncMode = g.SyncMode
			assess(&o, s, Report{HostTime: hostNow, DB2PD: view(row)})
			switch row.Decision {
			case "force_peer_window_only", "fence_first", "wait", "read_role_first":
				if o.Role != failover.RoleStandby || o.Fitness != failover.Fit {
					t.Errorf("role %q, %q (%s), want a fit standby", o.Role, o.Fitness, o.FitnessWhy)
				}
			case "refuse_human":
				if o.Fitness != failover.Unfit || o.FitnessWhy == "" || o.FitnessNext == "" {
					t.Errorf("%q (%s; %s), want unfit with reason and next command", o.Fitness, o.FitnessWhy, o.FitnessNext)
				}
			case "none":
				if o.Role == failover.RoleStandby && o.PartnerStatus != "CONGESTED" {
					t.Errorf("role %q, %q", o.Role, o.PartnerStatus)
				}
			default:
				t.Errorf("decision %q is not tried", row.Decision)
			}
		})
	}
	if tried < 15 {
		t.Errorf("only %d rows were tried", tried)
	}
}

// view prints what the standby of a row would.
func view(row matrixRow) string {
	g := row.Given
	if g.DB2PDError != "" {
		return "Database HADRDB not activated on database member 0 or this database name cannot be found in the local database directory."
	}
	end, window := "NULL", int64(300)
	if g.SecondsToEnd != nil {
		end = fmt.Sprintf("03/02/2026 10:00:00.000000 (%d)", hostNow.Unix()+int64(*g.SecondsToEnd))
	}
	if g.PeerWindow != nil {
		window = *g.PeerWindow
	}
	return fmt.Sprintf(`
Database Member 0 -- Database HADRDB -- Standby -- Up 0 days 00:10:00 -- Date 2026-03-02-10.00.00.000000

                            HADR_ROLE = %s
                        HADR_SYNCMODE = %s
                           STANDBY_ID = 0
                           HADR_STATE = %s
                           HADR_FLAGS = %s
                  HADR_CONNECT_STATUS = %s
          HEARTBEAT_INTERVAL(seconds) = 15
                HADR_TIMEOUT(seconds) = 60
        TIME_SINCE_LAST_RECV(seconds) = 1
                 PEER_WINDOW(seconds) = %d
                      PEER_WINDOW_END = %s
`, g.StandbyRole, g.SyncMode, *g.StandbyState, strings.Join(g.Flags, " "), *g.ConnectStatus, window, end)
}

// Of several log streams the weakest decides.
func TestAssessWeakestStream(t *testing.T) {
	good := readFile(t, "testdata/db2pd/s01-standby-peer-normal.txt")
	_, block, _ := strings.Cut(good, "\n                            HADR_ROLE")
	bad := strings.Replace("\n                            HADR_ROLE"+block, "= PEER", "= REMOTE_CATCHUP", 1)
	for _, output := range []string{good + bad, strings.Replace(good, "= PEER", "= REMOTE_CATCHUP", 1) + "\n                            HADR_ROLE" + block} {
		if o := observe(declared, output); o.Fitness != failover.Unfit || o.State != "REMOTE_CATCHUP" {
			t.Errorf("%q in state %s, want unfit in REMOTE_CATCHUP", o.Fitness, o.State)
		}
	}
}

// Of several windows the one that ends first counts.
func TestAssessShortestWindow(t *testing.T) {
	late := readFile(t, "testdata/db2pd/s01-standby-peer-normal.txt") // ends at 1772445898
	_, block, _ := strings.Cut(late, "\n                            HADR_ROLE")
	early := strings.Replace("\n                            HADR_ROLE"+block, "(1772445898)", "(1772445700)", 1)
	for _, output := range []string{late + early, strings.Replace(late, "(1772445898)", "(1772445700)", 1) + "\n                            HADR_ROLE" + block} {
		o := observe(declared, output)
		if left := o.PromoteUntil.Sub(hostNow); o.Fitness != failover.Fit || left != 95*time.Second {
			t.Errorf("%q with %s left, want fit with 95s", o.Fitness, left)
		}
	}
}
