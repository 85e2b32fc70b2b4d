package benchmark

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// Row names a latency of the profile.
type Row string

// The rows that a takeover in one Region meets.
const (
	ActionToLambda   Row = "cloudwatch_action_to_lambda"
	MetricIngestion  Row = "metric_ingestion"
	ColdStart        Row = "lambda_cold_start"
	DynamoDBCall     Row = "dynamodb_call"
	ControlCall      Row = "ec2_control_call"
	RouteConvergence Row = "route_convergence"
	StopSkipShutdown Row = "stop_skip_os_shutdown"
	CommandDelivery  Row = "ssm_delivery"
	PeerTakeover     Row = "db2_takeover_peer_window"
)

var rows = []Row{
	ActionToLambda, MetricIngestion, ColdStart, DynamoDBCall, ControlCall, RouteConvergence, StopSkipShutdown, CommandDelivery, PeerTakeover,
}

// Latency is a lognormal distribution, given by two of its quantiles.
type Latency struct{ P50, P99 time.Duration }

// z99 is the 99 % quantile of the standard normal distribution.
const z99 = 2.3263478740408408

// Quantile returns the time within which the share u of all is over; 0 < u < 1.
func (l Latency) Quantile(u float64) time.Duration {
	z := math.Sqrt2 * math.Erfinv(2*u-1)
	return time.Duration(float64(l.P50) * math.Pow(float64(l.P99)/float64(l.P50), z/z99))
}

// Profile is how long what AWS and Db2 do takes. All of it is assumed: AWS
// publishes none of these figures. Each row of the file says what it rests on.
type Profile map[Row]Latency

//go:embed testdata/latency-profile.json
var assumed []byte

// Assumed returns the profile of the benchmarks.
func Assumed() (Profile, error) { return parseProfile(assumed) }

func parseProfile(text []byte) (Profile, error) {
	var file struct {
		Rows []struct {
			ID       Row
			P50, P99 float64 // seconds
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("latency profile: %w", err)
	}
	p := Profile{}
	for _, r := range file.Rows {
		l := Latency{seconds(r.P50), seconds(r.P99)}
		if l.P50 <= 0 || l.P99 < l.P50 {
			return nil, fmt.Errorf("latency profile, row %s: p50 %s and p99 %s: want 0 < p50 <= p99", r.ID, l.P50, l.P99)
		}
		p[r.ID] = l
	}
	for _, row := range rows {
		if _, ok := p[row]; !ok {
			return nil, fmt.Errorf("latency profile: the row %s is missing", row)
		}
	}
	return p, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
