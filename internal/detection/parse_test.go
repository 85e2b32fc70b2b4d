package detection

import (
	"strings"
	"testing"
	"time"
)

func TestParseSet(t *testing.T) {
	named := map[string]Set{"mine": {Name: "mine", Detectors: []Detector{View{Poll: time.Second, Timeout: time.Minute}}}}
	for text, want := range map[string]string{
		"fill":                       "latency, silent, process, status",
		"lease:20s/5s":               "lease 20 s/5 s",
		"fast = lease:6s/2s/1s":      "lease 6 s/2 s",
		"mine":                       "standby's view every 1 s",
		"view:2s+lease:6s/2s & mine": "standby's view every 2 s, lease 6 s/2 s, standby's view every 1 s",
		"mine&(lease:6s/2s+view:2s)": "standby's view every 1 s, lease 6 s/2 s, standby's view every 2 s",
		"((mine))":                   "standby's view every 1 s",
	} {
		s, err := NewModel().ParseSet(text, named)
		if err != nil {
			t.Errorf("ParseSet(%q): %v", text, err)
			continue
		}
		var names []string
		for _, d := range s.Detectors {
			names = append(names, d.Name())
		}
		if got := strings.Join(names, ", "); got != want {
			t.Errorf("ParseSet(%q) has %s, want %s", text, got, want)
		}
	}
	if s, err := NewModel().ParseSet("fast = lease:6s/2s/1s", nil); err != nil || s.Name != "fast" {
		t.Errorf("the set is called %q (%v), want fast", s.Name, err)
	}
}

func TestParseSetRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "want a name and an expression",
		"fil":                     `"fil" is none of fill, reference`,
		"fill+":                   `"" is none of`,
		"fill lease:6s/2s":        `"fill lease:6s/2s" is none of`,
		"(fill":                   "parenthesis is not closed",
		"fill)":                   `unexpected ")"`,
		"lease:20s":               "want lease:DURATION/HEARTBEAT",
		"lease:20s/x":             `"x" is no duration`,
		"lease:5s/5s":             "below the duration",
		"view:":                   "want view:POLL",
		"view:0s":                 "above 0",
		strings.Repeat("(", 2000): "up to 1000 characters",
	} {
		if _, err := NewModel().ParseSet(text, nil); err == nil || !strings.Contains(strings.Replace(err.Error(), "none of reference, fill", "none of fill, reference", 1), want) {
			t.Errorf("ParseSet(%q): %v, want %q", text, err, want)
		}
	}
}

func TestParseAlarm(t *testing.T) {
	m := NewModel()
	d, err := m.ParseAlarm("silent=SampleCount < 2; expression=FILL(m1, 0); missing=breaching; period=60; n=3; m=2")
	if err != nil {
		t.Fatal(err)
	}
	if d.Name != "silent" || d.N != 3 || d.M != 2 || d.Threshold != 2 || !d.OnExpression() || d.Metrics()[0].Name != "SQLLatency" {
		t.Errorf("ParseAlarm: %+v", d)
	}
	d, err = m.ParseAlarm("gone=Minimum<=0.5;metric=CWAgent/procstat_lookup_pid_count")
	if err != nil || d.Metrics()[0].Namespace != "CWAgent" || d.Comparison != "LessThanOrEqualToThreshold" {
		t.Errorf("ParseAlarm: %+v, %v", d, err)
	}
	for text, want := range map[string]string{
		"Maximum > 1":              "want NAME=STATISTIC",
		"x=Maximum":                "compares nothing",
		"x=Maximum > much":         `"much" is no number`,
		"x=Median > 1":             `statistic "Median"`,
		"x=Maximum > 1; period=45": "period 45 s",
		"x=Maximum > 1; n=two":     `n: "two" is no whole number`,
		"x=Maximum > 1; color=red": `"color" is none of`,
		"x=Maximum > 1; metric=y":  "is not NAMESPACE/NAME",
		"x=Maximum > 1; missing=y": `missing data "y"`,
	} {
		if _, err := m.ParseAlarm(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseAlarm(%q): %v, want %q", text, err, want)
		}
	}
}

func FuzzParseSet(f *testing.F) {
	for _, s := range Comparison {
		f.Add(s)
	}
	f.Add("a=fill&(lease:6s/2s+view:2s)")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := NewModel().ParseSet(text, nil)
		if err == nil && (len(s.Detectors) == 0 || s.Name == "" || s.Worst(Host) <= 0) {
			t.Errorf("ParseSet(%q) = %+v", text, s)
		}
	})
}

func FuzzParseAlarm(f *testing.F) {
	f.Add("silent=SampleCount < 2; expression=FILL(m1, 0); missing=breaching")
	f.Add("gone=Minimum<=0.5;metric=CWAgent/procstat_lookup_pid_count")
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := NewModel().ParseAlarm(text); err == nil && (d.Name == "" || d.N < 1 || d.Period() <= 0) {
			t.Errorf("ParseAlarm(%q) = %+v", text, d)
		}
	})
}
