package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// simulated runs hadr simulate detection.
func simulated(t *testing.T, stdin string, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	cmd := root()
	cmd.SetIn(strings.NewReader(stdin))
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(append([]string{"simulate", "detection", "--failures", "2000", "--days", "5"}, args...))
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestSimulateComparesByDefault(t *testing.T) {
	out, err := simulated(t, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"reference", "fill", "high-resolution", "lease:20s/5s", "lease:6s/2s", "fill+lease:6s/2s+view:2s", "The host vanishes", "The database hangs", "410 s", "170 s", "USD a month"} {
		if !strings.Contains(out, want) {
			t.Errorf("the comparison does not say %q:\n%s", want, out)
		}
	}
}

type simulatedJSON struct {
	Sets []struct {
		Name     string
		Failures []struct {
			Failure string
			Worst   *float64 `json:"worst_case_seconds"`
		}
	}
	Notes []string
}

func simulatedSets(t *testing.T, stdin string, args ...string) simulatedJSON {
	t.Helper()
	out, err := simulated(t, stdin, append(args, "--json", "--ingestion", "0", "--loss", "0", "--cuts", "0")...)
	if err != nil {
		t.Fatal(err)
	}
	var got simulatedJSON
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return got
}

func TestSimulateAlarmsOfFlags(t *testing.T) {
	got := simulatedSets(t, "", "--failure", "host", "--expression-cutoff", "0s",
		"--alarm", "silent=SampleCount < 2; expression=FILL(m1, 0); missing=breaching", "--alarm", "slow=Maximum > 20000; missing=notBreaching")
	if len(got.Sets) != 1 || got.Sets[0].Name != "alarms" || *got.Sets[0].Failures[0].Worst != 159.998 {
		t.Errorf("%+v", got)
	}
	got = simulatedSets(t, "", "--failure", "host,hang", "--alarm", "silent=SampleCount < 2; missing=breaching", "--set", "mine=silent+lease:6s/2s", "--set", "silent")
	if len(got.Sets) != 2 || got.Sets[0].Name != "mine" || *got.Sets[0].Failures[0].Worst != 7 || got.Sets[1].Failures[1].Worst != nil {
		t.Errorf("%+v", got)
	}
}

const simulatedPlan = `{"format_version":"1.2","resource_changes":[
{"address":"hadr_metric_alarm.silent","mode":"managed","type":"hadr_metric_alarm","change":{"after":
 {"name":"silent","namespace":"HADR","metric_name":"SQLLatency","statistic":"SampleCount","period":60,
  "comparison_operator":"LessThanThreshold","threshold":2,"evaluation_periods":1,"treat_missing_data":"breaching"}}},
{"address":"hadr_metric_alarm.cpu","mode":"managed","type":"hadr_metric_alarm","change":{"after":
 {"name":"cpu","namespace":"AWS/EC2","metric_name":"CPUUtilization","statistic":"Average","period":60,
  "comparison_operator":"GreaterThanThreshold","threshold":90,"evaluation_periods":1,"treat_missing_data":"missing"}}}]}`

func TestSimulateAPlan(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plan.json")
	if err := os.WriteFile(file, []byte(simulatedPlan), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, got := range []simulatedJSON{
		simulatedSets(t, "", "--plan", file, "--set", "reference", "--failure", "host"),
		simulatedSets(t, simulatedPlan, "--plan", "-", "--set", "reference", "--failure", "host"),
	} {
		if len(got.Sets) != 2 || got.Sets[0].Name != "silent" || *got.Sets[0].Failures[0].Worst != 409.998 || got.Sets[1].Name != "reference" {
			t.Errorf("%+v", got)
		}
		if !strings.Contains(strings.Join(got.Notes, "\n"), "does not know its metric CPUUtilization") {
			t.Errorf("notes %q", got.Notes)
		}
	}
}

func TestSimulateDraws(t *testing.T) {
	for _, name := range []string{"d.svg", "d.PNG"} {
		file := filepath.Join(t.TempDir(), name)
		if _, err := simulated(t, "", "--set", "fill", "--plot", file); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(file); err != nil || info.Size() < 5000 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		if entries, err := os.ReadDir(filepath.Dir(file)); err != nil || len(entries) != 1 {
			t.Errorf("beside the picture there is something else: %v, %v", entries, err)
		}
	}
}

func TestSimulateRefuses(t *testing.T) {
	for want, args := range map[string][]string{
		"must end in .svg or .png":              {"--plot", "d.gif"},
		`failure "flood" is none of`:            {"--failure", "flood"},
		`"fil" is none of`:                      {"--set", "fil"},
		"want the median and the 99 % quantile": {"--ingestion", "much"},
		"0 <= p50 <= p99":                       {"--ingestion", "5s,1s"},
		"want a share between 0 and 0.5":        {"--loss", "1"},
		"0 failures: want 1 to":                 {"--failures", "0"},
		"the probe's time-out must be above 0":  {"--probe-timeout", "30s"},
		"no such file":                          {"--plan", "missing.json"},
		"not the output of terraform show":      {"--plan", "-"},
		"the model does not know its metric":    {"--alarm", "cpu=Average > 90; metric=AWS/EC2/CPUUtilization"},
		"want NAME=USD":                         {"--price", "puts"},
		`price "puts" is none of alarm`:         {"--price", "puts=1"},
		"is no price in US dollars":             {"--price", "alarm=-1"},
		"none of the others can be":             {"--plan", "-", "--group", "orders"},
	} {
		if out, err := simulated(t, "", args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q\n%s", args, err, want, out)
		}
	}
}
