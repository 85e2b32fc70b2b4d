package route53

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// row is a fact about Route 53; testdata/route53.json names its source.
type row struct {
	ID     string          `json:"id"`
	Kind   string          `json:"kind"`
	Input  json.RawMessage `json:"input"`
	Expect json.RawMessage `json:"expect"`
	Source string          `json:"source"`
}

func decode[T any](t *testing.T, raw json.RawMessage) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

func TestOracle(t *testing.T) {
	raw, err := os.ReadFile("testdata/route53.json")
	if err != nil {
		t.Fatal(err)
	}
	file := decode[struct {
		Rows []row `json:"rows"`
	}](t, raw)
	kinds := map[string]func(*testing.T, row){
		"failover_answer": failoverAnswer, "health_check_status": healthCheckStatus, "configuration": configuration,
		"checker_result": checkerResult, "scenario": scenario,
	}
	if len(file.Rows) < 50 {
		t.Fatalf("only %d rows", len(file.Rows))
	}
	for _, r := range file.Rows {
		t.Run(r.ID, func(t *testing.T) {
			test := kinds[r.Kind]
			if test == nil {
				t.Fatalf("unknown kind %s", r.Kind)
			}
			test(t, r)
		})
	}
}

// The names of the oracle's world.
const (
	zoneName  = "example.com."
	primaryIP = "10.0.0.1"
	standbyIP = "10.0.0.2"
)

// failoverAnswer sets up a primary and a secondary and asks for the answer.
func failoverAnswer(t *testing.T, r row) {
	in := decode[struct {
		Primary   string  `json:"primary"`
		Secondary *string `json:"secondary"`
	}](t, r.Input)
	want := decode[struct {
		Answer string `json:"answer"`
	}](t, r.Expect)
	f := newFixture(t)
	records := []types.ResourceRecordSet{f.failoverRecord(in.Primary, types.ResourceRecordSetFailoverPrimary, primaryIP)}
	if in.Secondary != nil {
		records = append(records, f.failoverRecord(*in.Secondary, types.ResourceRecordSetFailoverSecondary, standbyIP))
	}
	f.create(records...)
	f.settle()
	if got := f.role(f.service.Answer("db."+zoneName, "A")); got != want.Answer {
		t.Errorf("the answer is the %s, want the %s", got, want.Answer)
	}
}

// failoverRecord is a record in the words of the oracle.
func (f *fixture) failoverRecord(health string, role types.ResourceRecordSetFailover, ip string) types.ResourceRecordSet {
	set := address("db."+zoneName, ip)
	set.SetIdentifier, set.Failover = aws.String(string(role)), role
	target, alias := strings.CutPrefix(health, "alias")
	switch {
	case !alias:
		set.HealthCheckId = f.checkThatIs(health)
		return set
	case strings.Contains(target, "weighted records, none healthy"):
		for i, id := range []string{"1", "2"} {
			w := address("pool."+zoneName, fmt.Sprintf("10.0.1.%d", i+1))
			w.SetIdentifier, w.Weight, w.HealthCheckId = aws.String(id), aws.Int64(10), f.checkThatIs("unhealthy")
			f.create(w)
		}
		return aliasTo(set, "pool."+zoneName, true)
	case strings.Contains(target, "NLB"):
		f.service.SetTargetHealth("nlb.elb.example.net", false)
		return aliasTo(set, "nlb.elb.example.net.", true)
	default:
		set = aliasTo(set, "target."+zoneName, strings.Contains(target, "evaluate_target_health=true"))
		one := address("target."+zoneName, ip)
		one.SetIdentifier, one.Weight, one.HealthCheckId = aws.String("1"), aws.Int64(1), f.checkThatIs("unhealthy")
		f.create(one)
		return set
	}
}

// role says which record an answer came from. An alias to a load balancer has
// no address in the sandbox.
func (f *fixture) role(a Answer) string {
	switch {
	case slices.Contains(a.Values, standbyIP):
		return "secondary"
	case slices.Contains(a.Values, primaryIP):
		return "primary"
	}
	return fmt.Sprintf("none of both (%+v)", a)
}

// status is the input of a health check's row.
type status struct {
	Type           string   `json:"type"`
	Total          int      `json:"checkers_total"`
	Passing        int      `json:"checkers_healthy"`
	NoData         bool     `json:"no_data_yet"`
	Inverted       bool     `json:"inverted"`
	Disabled       bool     `json:"disabled"`
	Threshold      int32    `json:"threshold"`
	Children       []status `json:"children"`
	Stream         string   `json:"data_stream"`
	Missing        string   `json:"insufficient_data_health_status"`
	LastKnown      string   `json:"last_known"`
	RoutingControl string   `json:"routing_control"`
}

func (s status) healthy(t *testing.T) bool {
	return settle(types.HealthCheckConfig{Disabled: &s.Disabled, Inverted: &s.Inverted}, func() bool {
		switch s.Type {
		case "ENDPOINT":
			return enough(s.Passing, s.Total)
		case "CALCULATED":
			children := make([]bool, len(s.Children))
			for i, c := range s.Children {
				children[i] = c.healthy(t)
			}
			return calculated(s.Threshold, children)
		case "CLOUDWATCH_METRIC":
			states := map[string]world.AlarmState{"OK": world.AlarmOK, "ALARM": world.AlarmRed, "INSUFFICIENT": world.AlarmInsufficientData}
			last := s.LastKnown != "Unhealthy"
			return watched(states[s.Stream], types.InsufficientDataHealthStatus(s.Missing), &last)
		case "RECOVERY_CONTROL":
			f := newFixture(t)
			f.service.SetRoutingControl("arn:control", s.RoutingControl == "On")
			id := f.check(types.HealthCheckConfig{Type: types.HealthCheckTypeRecoveryControl, RoutingControlArn: aws.String("arn:control")})
			healthy, _ := f.service.Healthy(*id)
			return healthy
		}
		t.Fatalf("unknown type %s", s.Type)
		return false
	})
}

func healthCheckStatus(t *testing.T, r row) {
	want := decode[struct {
		Status string `json:"status"`
	}](t, r.Expect)
	got := "unhealthy"
	if decode[status](t, r.Input).healthy(t) {
		got = "healthy"
	}
	if got != want.Status {
		t.Errorf("status is %s, want %s", got, want.Status)
	}
}

// configuration tries to make what the row describes.
func configuration(t *testing.T, r row) {
	in := decode[struct {
		Alarm *struct {
			Period      int    `json:"period_s"`
			Periods     int    `json:"evaluation_periods"`
			Datapoints  int    `json:"datapoints_to_alarm"`
			Statistic   string `json:"statistic"`
			OtherOwner  string `json:"account"`
			Description string `json:"description"`
		} `json:"cloudwatch_alarm"`
		Calculated *struct {
			Children []string `json:"children"`
		} `json:"calculated"`
		SearchString int      `json:"search_string_length"`
		Records      []string `json:"records"`
	}](t, r.Input)
	want := decode[struct {
		Accepted bool   `json:"accepted"`
		Why      string `json:"why"`
	}](t, r.Expect)
	f := newFixture(t)
	var err error
	switch {
	case in.Alarm != nil:
		stream := world.AlarmStream{Namespace: "HADR", Metric: "SQLLatency", Statistic: "Average", Period: time.Minute, Periods: 1, ToAlarm: 1,
			State: func(time.Time) world.AlarmState { return world.AlarmOK }}
		if in.Alarm.Period != 0 {
			stream.Period = time.Duration(in.Alarm.Period) * time.Second
		}
		if in.Alarm.Periods != 0 {
			stream.Periods, stream.ToAlarm = in.Alarm.Periods, in.Alarm.Periods
		}
		if in.Alarm.Datapoints != 0 {
			stream.ToAlarm = in.Alarm.Datapoints
		}
		if in.Alarm.Statistic != "" {
			stream.Statistic = in.Alarm.Statistic
		}
		owner := world.DefaultAccount
		if in.Alarm.OtherOwner != "" {
			owner = in.Alarm.OtherOwner
		}
		f.alarms["eu-west-1/"+owner+"/a"] = stream
		_, err = f.tryCheck(types.HealthCheckConfig{Type: types.HealthCheckTypeCloudwatchMetric, AlarmIdentifier: &types.AlarmIdentifier{Name: aws.String("a"), Region: types.CloudWatchRegionEuWest1}})
	case in.Calculated != nil:
		child := f.check(types.HealthCheckConfig{Type: types.HealthCheckTypeCalculated, HealthThreshold: aws.Int32(1)})
		_, err = f.tryCheck(types.HealthCheckConfig{Type: types.HealthCheckTypeCalculated, HealthThreshold: aws.Int32(1), ChildHealthChecks: []string{*child}})
	case in.SearchString != 0:
		config := endpoint(types.HealthCheckTypeHttpStrMatch)
		config.SearchString = aws.String(strings.Repeat("x", in.SearchString))
		_, err = f.tryCheck(config)
	default:
		var records []types.ResourceRecordSet
		for i, kind := range in.Records {
			set := address("db."+zoneName, fmt.Sprintf("10.0.0.%d", i+1))
			if role, ok := strings.CutPrefix(kind, "failover "); ok {
				set.SetIdentifier, set.Failover = aws.String(role), types.ResourceRecordSetFailover(role)
			}
			records = append(records, set)
		}
		_, err = f.tryChange(types.ChangeActionCreate, records...)
	}
	if (err == nil) != want.Accepted {
		t.Errorf("accepted: %t (%v), want %t: %s", err == nil, err, want.Accepted, want.Why)
	}
}

func checkerResult(t *testing.T, r row) {
	in := decode[struct {
		Type    types.HealthCheckType `json:"type"`
		Connect float64               `json:"connect_s"`
		Status  float64               `json:"status_s"`
		Body    float64               `json:"body_s"`
		Code    int                   `json:"status"`
		Ends    int                   `json:"string_ends_at_byte"`
	}](t, r.Input)
	want := decode[struct {
		Pass bool `json:"pass"`
	}](t, r.Expect)
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	o := outcome{connect: seconds(in.Connect), status: seconds(in.Status), body: seconds(in.Body), code: in.Code, found: in.Ends}
	if got := o.passes(in.Type); got != want.Pass {
		t.Errorf("the checker's result is %t, want %t", got, want.Pass)
	}
}

// scenario plays steps and looks at the answer after each, once everything has
// had the time to converge.
func scenario(t *testing.T, r row) {
	in := decode[struct {
		Check string      `json:"primary_check"`
		Steps [][2]string `json:"steps"`
	}](t, r.Input)
	want := decode[struct {
		Answers []string `json:"answers"`
	}](t, r.Expect)
	virtual(t, func(f *fixture) {
		f.web.body.Store(aws.String("role=none"))
		config := types.HealthCheckConfig{Type: types.HealthCheckTypeRecoveryControl, RoutingControlArn: aws.String("arn:control")}
		switch {
		case in.Check == "ENDPOINT":
			config = endpoint(types.HealthCheckTypeTcp)
		case strings.Contains(in.Check, "inverted"):
			config = endpoint(types.HealthCheckTypeHttpStrMatch)
			config.SearchString, config.Inverted = aws.String("STOP"), aws.Bool(true)
		}
		primary, secondary := address("db."+zoneName, primaryIP), address("db."+zoneName, standbyIP)
		primary.Failover, primary.SetIdentifier, primary.HealthCheckId = types.ResourceRecordSetFailoverPrimary, aws.String("p"), f.check(config)
		secondary.Failover, secondary.SetIdentifier = types.ResourceRecordSetFailoverSecondary, aws.String("s")
		f.create(primary, secondary)
		var answers []string
		for _, step := range in.Steps {
			switch step[0] {
			case "control":
				f.service.SetRoutingControl("arn:control", step[1] == "On")
			case "endpoint_primary", "object_region":
				f.web.down.Store(step[1] == "down" || step[1] == "unreachable")
			case "object":
				f.web.down.Store(false)
				f.web.body.Store(aws.String(map[string]string{"absent": "none", "present": "STOP"}[step[1]]))
			default:
				t.Fatalf("unknown step %s", step[0])
			}
			f.settle()
			answers = append(answers, f.role(f.service.Answer("db."+zoneName, "A")))
		}
		if !slices.Equal(answers, want.Answers) {
			t.Errorf("answers are %v, want %v", answers, want.Answers)
		}
	})
}
