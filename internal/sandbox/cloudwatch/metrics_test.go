package cloudwatch

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hadr-dev/terraform-provider-hadr/internal/alarm"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

func TestPutMetricDataValidation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		now := f.w.Clock.Now()
		long := make([]float64, 151)
		for _, c := range []struct {
			name  string
			datum types.MetricDatum
			want  string
		}{
			{"value", types.MetricDatum{Value: aws.Float64(1)}, ""},
			{"zero", types.MetricDatum{Value: aws.Float64(0)}, ""},
			{"no value", types.MetricDatum{}, "InvalidParameterCombination"},
			{"value and values", types.MetricDatum{Value: aws.Float64(1), Values: []float64{1}}, "InvalidParameterCombination"},
			{"NaN", types.MetricDatum{Value: aws.Float64(math.NaN())}, "InvalidParameterValue"},
			{"infinite", types.MetricDatum{Value: aws.Float64(math.Inf(-1))}, "InvalidParameterValue"},
			{"2^361", types.MetricDatum{Value: aws.Float64(math.Ldexp(1, 361))}, "InvalidParameterValue"},
			{"NaN among values", types.MetricDatum{Values: []float64{1, math.NaN()}}, "InvalidParameterValue"},
			{"150 values", types.MetricDatum{Values: long[:150]}, ""},
			{"151 values", types.MetricDatum{Values: long}, "InvalidParameterValue"},
			{"one count for two values", types.MetricDatum{Values: []float64{1, 2}, Counts: []float64{1}}, "InvalidParameterCombination"},
			{"negative count", types.MetricDatum{Values: []float64{1}, Counts: []float64{-1}}, "InvalidParameterValue"},
			{"statistic set", types.MetricDatum{StatisticValues: set(2, 3, 1, 2)}, ""},
			{"statistic set without samples", types.MetricDatum{StatisticValues: set(0, 3, 1, 2)}, "InvalidParameterValue"},
			{"statistic set upside down", types.MetricDatum{StatisticValues: set(2, 3, 2, 1)}, "InvalidParameterValue"},
			{"partial statistic set", types.MetricDatum{StatisticValues: &types.StatisticSet{Sum: aws.Float64(1)}}, "MissingParameter"},
			{"13 days old", types.MetricDatum{Value: aws.Float64(1), Timestamp: aws.Time(now.Add(-13 * 24 * time.Hour))}, ""},
			{"15 days old", types.MetricDatum{Value: aws.Float64(1), Timestamp: aws.Time(now.Add(-15 * 24 * time.Hour))}, "InvalidParameterValue"},
			{"an hour ahead", types.MetricDatum{Value: aws.Float64(1), Timestamp: aws.Time(now.Add(time.Hour))}, ""},
			{"three hours ahead", types.MetricDatum{Value: aws.Float64(1), Timestamp: aws.Time(now.Add(3 * time.Hour))}, "InvalidParameterValue"},
			{"resolution 1", types.MetricDatum{Value: aws.Float64(1), StorageResolution: aws.Int32(1)}, ""},
			{"resolution 10", types.MetricDatum{Value: aws.Float64(1), StorageResolution: aws.Int32(10)}, "InvalidParameterValue"},
			{"31 dimensions", types.MetricDatum{Value: aws.Float64(1), Dimensions: manyDimensions(31)}, "ValidationError"},
			{"30 dimensions", types.MetricDatum{Value: aws.Float64(1), Dimensions: manyDimensions(30)}, ""},
			{"a dimension twice", types.MetricDatum{Value: aws.Float64(1), Dimensions: dims("a", "1", "a", "2")}, "InvalidParameterValue"},
			{"an empty dimension", types.MetricDatum{Value: aws.Float64(1), Dimensions: dims("a", "")}, "InvalidParameterValue"},
			{"an endless name", types.MetricDatum{Value: aws.Float64(1), MetricName: aws.String(strings.Repeat("x", 256))}, "InvalidParameterValue"},
		} {
			if c.datum.MetricName == nil {
				c.datum.MetricName = aws.String("m")
			}
			_, err := f.putMetricData(request, &api.PutMetricDataInput{Namespace: aws.String(space), MetricData: []types.MetricDatum{c.datum}})
			if got := code(err); got != c.want {
				t.Errorf("%s: error %q, want %q", c.name, got, c.want)
			}
		}
		for _, c := range []struct {
			name, namespace string
			n               int
			want            string
		}{
			{"a namespace of AWS", "AWS/EC2", 1, "InvalidParameterValue"},
			{"no namespace", "", 1, "MissingParameter"},
			{"1000 data", space, 1000, ""},
			{"1001 data", space, 1001, "ValidationError"},
			{"no data", space, 0, "MissingParameter"},
		} {
			data := make([]types.MetricDatum, c.n)
			for i := range data {
				data[i] = types.MetricDatum{MetricName: aws.String("m"), Value: aws.Float64(1)}
			}
			_, err := f.putMetricData(request, &api.PutMetricDataInput{Namespace: &c.namespace, MetricData: data})
			if got := code(err); got != c.want {
				t.Errorf("%s: error %q, want %q", c.name, got, c.want)
			}
		}
	})
}

func set(count, sum, minimum, maximum float64) *types.StatisticSet {
	return &types.StatisticSet{SampleCount: &count, Sum: &sum, Minimum: &minimum, Maximum: &maximum}
}

func manyDimensions(n int) (out []types.Dimension) {
	for i := range n {
		out = append(out, dims(fmt.Sprint("d", i), "v")...)
	}
	return out
}

func TestARefusedRequestStoresNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		_, err := f.putMetricData(request, &api.PutMetricDataInput{Namespace: aws.String(space), MetricData: []types.MetricDatum{
			{MetricName: aws.String("good"), Value: aws.Float64(1)}, {MetricName: aws.String("bad"), Value: aws.Float64(math.NaN())},
		}})
		if err == nil {
			t.Fatal("NaN was accepted")
		}
		if o := must[*api.ListMetricsOutput](t)(f.listMetrics(request, &api.ListMetricsInput{})); len(o.Metrics) != 0 {
			t.Errorf("%d metrics are there", len(o.Metrics))
		}
	})
}

// publishFive stores 5, 4, 3, 2, 1 in the five minutes up to now, which it returns.
func (f *fixture) publishFive() time.Time {
	now := f.w.Clock.Now().Truncate(time.Minute)
	for i := range 5 {
		f.put(types.MetricDatum{
			MetricName: aws.String("hb"), Dimensions: dims("Node", "a", "Group", "g"), Value: aws.Float64(float64(i + 1)),
			Timestamp: aws.Time(now.Add(-time.Duration(i) * time.Minute)), StorageResolution: aws.Int32(1), Unit: types.StandardUnitCount,
		})
	}
	return now
}

func statQuery(id, name, stat string, d ...types.Dimension) types.MetricDataQuery {
	return types.MetricDataQuery{Id: &id, MetricStat: &types.MetricStat{Period: aws.Int32(60), Stat: &stat,
		Metric: &types.Metric{Namespace: aws.String(space), MetricName: &name, Dimensions: d}}}
}

func exprQuery(id, expression string) types.MetricDataQuery {
	return types.MetricDataQuery{Id: &id, Expression: &expression}
}

func TestGetMetricData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		now := f.publishFive()
		hb := dims("Group", "g", "Node", "a") // another order, the same metric
		o := must[*api.GetMetricDataOutput](t)(f.getMetricData(request, &api.GetMetricDataInput{
			StartTime: aws.Time(now.Add(-10 * time.Minute)), EndTime: aws.Time(now.Add(time.Minute)), ScanBy: types.ScanByTimestampAscending,
			MetricDataQueries: []types.MetricDataQuery{
				statQuery("a", "hb", "Sum", hb...), statQuery("p", "hb", "p90", hb...), statQuery("other", "hb", "Sum", dims("Node", "a")...),
				exprQuery("x", "a * 2"), exprQuery("f", "FILL(a, 0)"), exprQuery("i", "IF(x > 6, 1, 0)"), exprQuery("all", "SUM(METRICS('a'))"),
			},
		}))
		got := map[string][]float64{}
		for _, r := range o.MetricDataResults {
			got[*r.Id] = r.Values
		}
		want := map[string][]float64{
			"a": {5, 4, 3, 2, 1}, "p": {5, 4, 3, 2, 1}, "other": {}, "x": {10, 8, 6, 4, 2},
			"f": {0, 0, 0, 0, 0, 0, 5, 4, 3, 2, 1}, "i": {1, 1, 0, 0, 0}, "all": {5, 4, 3, 2, 1},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if first := o.MetricDataResults[0].Timestamps[0]; !first.Equal(now.Add(-4 * time.Minute)) {
			t.Errorf("first time stamp is %s", first)
		}
	})
}

func TestGetMetricDataPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		now := f.publishFive()
		hb := dims("Group", "g", "Node", "a")
		in := &api.GetMetricDataInput{
			StartTime: aws.Time(now.Add(-10 * time.Minute)), EndTime: aws.Time(now.Add(time.Minute)), MaxDatapoints: aws.Int32(4),
			MetricDataQueries: []types.MetricDataQuery{statQuery("a", "hb", "Sum", hb...), exprQuery("b", "a * 10")},
		}
		var got []string
		for {
			o := must[*api.GetMetricDataOutput](t)(f.getMetricData(request, in))
			for _, r := range o.MetricDataResults {
				got = append(got, fmt.Sprint(*r.Id, r.Values, r.StatusCode))
			}
			if in.NextToken = o.NextToken; in.NextToken == nil {
				break
			}
		}
		want := []string{"a[1 2 3 4]PartialData", "a[5]Complete", "b[10 20 30]PartialData", "b[40 50]Complete"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("newest first (-want +got):\n%s", diff)
		}
		in.NextToken = aws.String("%%%")
		if _, err := f.getMetricData(request, in); code(err) != "InvalidNextToken" {
			t.Errorf("bad token: %v", err)
		}
	})
}

func TestGetMetricDataRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		now := f.w.Clock.Now()
		for name, q := range map[string][]types.MetricDataQuery{
			"an unknown reference": {exprQuery("e", "m1 + 1")},
			"a cycle":              {exprQuery("a", "b"), exprQuery("b", "a")},
			"an id twice":          {statQuery("a", "m", "Sum"), statQuery("a", "m", "Sum")},
			"an id in capitals":    {statQuery("A", "m", "Sum")},
			"a number":             {exprQuery("e", "1 + 1")},
			"a syntax error":       {exprQuery("e", "1 +")},
			"an unknown statistic": {statQuery("a", "m", "Median")},
			"neither":              {{Id: aws.String("a")}},
		} {
			_, err := f.getMetricData(request, &api.GetMetricDataInput{StartTime: aws.Time(now.Add(-time.Hour)), EndTime: &now, MetricDataQueries: q})
			if code(err) != "ValidationError" {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestGetMetricStatistics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		now := f.publishFive()
		f.put(types.MetricDatum{MetricName: aws.String("hb"), Dimensions: dims("Node", "a", "Group", "g"), Value: aws.Float64(7), Timestamp: &now, Unit: types.StandardUnitSeconds})
		in := &api.GetMetricStatisticsInput{
			Namespace: aws.String(space), MetricName: aws.String("hb"), Dimensions: dims("Group", "g", "Node", "a"), Period: aws.Int32(300), Unit: types.StandardUnitCount,
			StartTime: aws.Time(now.Add(-4 * time.Minute)), EndTime: aws.Time(now.Add(time.Minute)),
			Statistics: []types.Statistic{"Average", "Maximum", "SampleCount"}, ExtendedStatistics: []string{"p50"},
		}
		o := must[*api.GetMetricStatisticsOutput](t)(f.getMetricStatistics(request, in))
		want := []types.Datapoint{{
			Timestamp: aws.Time(now.Add(-4 * time.Minute)), Unit: types.StandardUnitCount, Average: aws.Float64(3), Maximum: aws.Float64(5), SampleCount: aws.Float64(5),
			ExtendedStatistics: map[string]float64{"p50": 3},
		}}
		if diff := cmp.Diff(want, o.Datapoints, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".noSmithyDocumentSerde" }, cmp.Ignore())); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		in.Unit = ""
		if o = must[*api.GetMetricStatisticsOutput](t)(f.getMetricStatistics(request, in)); len(o.Datapoints) != 2 {
			t.Errorf("%d datapoints of two units", len(o.Datapoints))
		}
		in.StartTime, in.Period = aws.Time(now.Add(-24*time.Hour)), aws.Int32(60)
		if _, err := f.getMetricStatistics(request, in); code(err) != "InvalidParameterCombination" {
			t.Errorf("1441 datapoints: %v", err)
		}
	})
}

func TestListMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.publishFive()
		f.PutMetric(region, account, world.Datum{Namespace: "AWS/EC2", Name: "StatusCheckFailed", Dimensions: map[string]string{"InstanceId": "i-1"}, Value: 0})
		list := func(in *api.ListMetricsInput) int {
			return len(must[*api.ListMetricsOutput](t)(f.listMetrics(request, in)).Metrics)
		}
		filter := func(name, value string) []types.DimensionFilter {
			return []types.DimensionFilter{{Name: &name, Value: optional(value)}}
		}
		for _, c := range []struct {
			name string
			in   api.ListMetricsInput
			want int
		}{
			{"all", api.ListMetricsInput{}, 2},
			{"of AWS", api.ListMetricsInput{Namespace: aws.String("AWS/EC2")}, 1},
			{"by name", api.ListMetricsInput{MetricName: aws.String("hb")}, 1},
			{"of node a", api.ListMetricsInput{Dimensions: filter("Node", "a")}, 1},
			{"of node b", api.ListMetricsInput{Dimensions: filter("Node", "b")}, 0},
			{"of any node", api.ListMetricsInput{Dimensions: filter("Node", "")}, 1},
		} {
			if got := list(&c.in); got != c.want {
				t.Errorf("%s: %d metrics, want %d", c.name, got, c.want)
			}
		}
		time.Sleep(4 * time.Hour)
		if got := list(&api.ListMetricsInput{RecentlyActive: types.RecentlyActivePt3h}); got != 0 {
			t.Errorf("%d metrics were active within three hours", got)
		}
		if o := must[*api.ListMetricsOutput](t)(f.listMetrics(stranger, &api.ListMetricsInput{})); len(o.Metrics) != 0 {
			t.Errorf("another account sees %d metrics", len(o.Metrics))
		}
	})
}

func TestIngestionDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, WithIngestionDelay(15*time.Second))
		f.value("m", 1)
		count := func() int {
			return len(must[*api.ListMetricsOutput](t)(f.listMetrics(request, &api.ListMetricsInput{})).Metrics)
		}
		if time.Sleep(14 * time.Second); count() != 0 {
			t.Error("visible after 14 s")
		}
		if time.Sleep(time.Second); count() != 1 {
			t.Error("not visible after 15 s")
		}
	})
}

// TestIngestion: a value that takes longer than a later one comes after it.
func TestIngestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		delays := []time.Duration{15 * time.Second, 5 * time.Second, 0}
		f := start(t, WithIngestion(func(string, time.Time) (d time.Duration) {
			d, delays = delays[0], delays[1:]
			return d
		}))
		for _, name := range []string{"slow", "fast", "at once"} {
			f.value(name, 1)
		}
		for _, want := range []struct {
			after   time.Duration
			visible int
		}{{0, 1}, {5 * time.Second, 2}, {9 * time.Second, 2}, {time.Second, 3}} {
			time.Sleep(want.after)
			if n := len(must[*api.ListMetricsOutput](t)(f.listMetrics(request, &api.ListMetricsInput{})).Metrics); n != want.visible {
				t.Errorf("%s later: %d are visible, want %d", want.after, n, want.visible)
			}
		}
	})
}

// TestSeriesKeepsItsData: in whatever order data comes and however often old data
// is compacted, whole minutes aggregate to the same.
func TestSeriesKeepsItsData(t *testing.T) {
	now := time.Date(2026, 3, 10, 8, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		s := &series{}
		minutes := map[int64]*alarm.Aggregate{}
		for _, age := range rapid.SliceOfN(rapid.Int64Range(0, 4*3600), 1, 200).Draw(t, "ages") {
			at := now.Unix() - age
			s.cell(at).Add(float64(age%7), 1)
			m := at - at%60
			if minutes[m] == nil {
				minutes[m] = &alarm.Aggregate{}
			}
			minutes[m].Add(float64(age%7), 1)
		}
		before := len(s.cells)
		s.full = -1
		for len(s.cells) < firstCompaction { // force one
			s.cells = append(s.cells, cell{start: now.Unix() + int64(len(s.cells))})
		}
		s.compact(now)
		if len(s.cells) > firstCompaction || before == 0 {
			t.Fatalf("%d cells", len(s.cells))
		}
		p50, _ := alarm.ParseStatistic("p50")
		for m, want := range minutes {
			var got alarm.Aggregate
			s.collect(&got, m, m+60, true)
			a, _ := p50.Value(&got)
			b, _ := p50.Value(want)
			if got.Count != want.Count || got.Sum != want.Sum || got.Min != want.Min || got.Max != want.Max || a != b {
				t.Fatalf("minute %d: %v, want %v", m, got, *want)
			}
		}
	})
}

func TestOldDataLosesResolutionAndGoes(t *testing.T) {
	s, now := &series{}, time.Date(2026, 3, 10, 8, 0, 0, 0, time.UTC)
	for i := range firstCompaction {
		s.cell(now.Add(-4*time.Hour).Unix()+int64(i)).Add(1, 1)
	}
	s.cell(now.Add(-500*24*time.Hour).Unix()).Add(1, 1)
	s.compact(now)
	if n := len(s.cells); n < 60 || n > 3600 {
		t.Errorf("%d cells: an hour of seconds older than three hours makes minutes", n)
	}
	if s.cells[0].start < now.Add(-5*time.Hour).Unix() {
		t.Error("data older than 455 days is still there")
	}
}
