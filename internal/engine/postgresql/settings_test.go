package postgresql

import (
	"strings"
	"testing"
	"time"
)

// declared are valid settings with a change.
func declared(change map[string]string) map[string]string {
	m := map[string]string{
		"replication_mode": "sync", "data_directory": "/var/lib/postgresql/15/main", "bin_directory": "/usr/lib/postgresql/15/bin",
		"address_a": "10.0.1.10", "address_b": "10.0.2.10:5433", "table_arn": "arn:aws:dynamodb:eu-central-1:123456789012:table/hadr",
	}
	for _, kind := range Kinds() {
		m[kind+"_document"] = "hadr-" + kind
	}
	for name, value := range change {
		m[name] = value
	}
	return m
}

func TestParseSettings(t *testing.T) {
	s, err := ParseSettings(declared(nil))
	if err != nil {
		t.Fatal(err)
	}
	if s.Owner != "postgres" || s.Port != "5432" || s.Socket != "/var/run/postgresql" || s.Window != 7*time.Minute || s.MaxLag != 16<<20 || s.Documents["promote"] != "hadr-promote" {
		t.Errorf("settings %+v", s)
	}
	for node, want := range map[string][2]string{"a": {"10.0.2.10", "5433"}, "b": {"10.0.1.10", "5432"}} {
		if host, port := s.peer(node); host != want[0] || port != want[1] {
			t.Errorf("peer of %s: %s %s, want %v", node, host, port, want)
		}
	}
	if host, _ := (Settings{}).peer("a"); host != "none" {
		t.Errorf("peer without addresses: %s", host)
	}
	async, err := ParseSettings(declared(map[string]string{"replication_mode": "async", "max_rpo_seconds": "30", "max_lag_bytes": "5"}))
	if err != nil || async.Window != 30*time.Second || async.MaxLag != 5 {
		t.Errorf("async: %+v, %v", async, err)
	}
}

func TestParseSettingsRefuses(t *testing.T) {
	tests := []struct{ name, value, says string }{
		{"replication_mode", "", "sync or async"},
		{"replication_mode", "SYNC", "sync or async"},
		{"replication_mode", "async", "max_rpo_seconds"},
		{"data_directory", "", "data"},
		{"data_directory", "pgdata", "data"},
		{"data_directory", "/pg data", "data"},
		{"data_directory", "/pg';id", "data"},
		{"bin_directory", "", "bin"},
		{"socket_directory", "run", "socket"},
		{"port", "0", "port"},
		{"port", "x", "port"},
		{"owner", "a b", "owner"},
		{"replication_user", "Hadr", "replication_user"},
		{"sslmode", "maybe", "sslmode"},
		{"max_lag_bytes", "-1", "max_lag_bytes"},
		{"max_lag_bytes", "16MB", "max_lag_bytes"},
		{"sync_window_seconds", "0", "sync_window_seconds"},
		{"sync_window_seconds", "100000", "a day"},
		{"rejoin_limit_seconds", "1.5", "rejoin_limit_seconds"},
		{"rejoin_limit_seconds", "601", "at most 600"},
	}
	for _, tt := range tests {
		t.Run(tt.name+"="+tt.value, func(t *testing.T) {
			if _, err := ParseSettings(declared(map[string]string{tt.name: tt.value})); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("ParseSettings: %v, want %q", err, tt.says)
			}
		})
	}
}
