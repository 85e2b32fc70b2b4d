package ec2

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
)

func (c *cloud) status(id string) (system, machine types.SummaryStatus) {
	c.t.Helper()
	o := must(c.DescribeInstanceStatus(c.req, &ec2.DescribeInstanceStatusInput{InstanceIds: []string{id}}))
	if len(o.InstanceStatuses) != 1 {
		c.t.Fatalf("%d statuses", len(o.InstanceStatuses))
	}
	s := o.InstanceStatuses[0]
	return s.SystemStatus.Status, s.InstanceStatus.Status
}

func TestVanishedMachineIsImpairedFromTheNextCheckOn(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		id := c.launch(0, nil)
		want := func(s types.SummaryStatus) {
			t.Helper()
			synctest.Wait()
			if system, machine := c.status(id); system != s || machine != s {
				t.Errorf("status is %s, %s, want %s", system, machine, s)
			}
		}
		want("initializing")
		time.Sleep(phase(id))
		want("ok")
		time.Sleep(checkInterval / 2)
		if err := c.Vanish(id); err != nil {
			t.Fatal(err)
		}
		c.wantState(id, "running")
		time.Sleep(checkInterval/2 - time.Millisecond)
		want("ok") // as of the last check
		time.Sleep(time.Millisecond)
		want("impaired")
		c.wantState(id, "running")
		filtered := must(c.DescribeInstanceStatus(c.req, &ec2.DescribeInstanceStatusInput{Filters: []types.Filter{{Name: aws.String("system-status.status"), Values: []string{"impaired"}}}}))
		if len(filtered.InstanceStatuses) != 1 {
			t.Errorf("%d impaired instances", len(filtered.InstanceStatuses))
		}
	})
}

func TestStatusOfStoppedInstances(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		id := c.launch(0, nil)
		must(c.StopInstances(c.req, &ec2.StopInstancesInput{InstanceIds: []string{id}, SkipOsShutdown: aws.Bool(true)}))
		time.Sleep(time.Minute)
		synctest.Wait()
		for all, want := range map[bool]int{false: 0, true: 1} {
			o := must(c.DescribeInstanceStatus(c.req, &ec2.DescribeInstanceStatusInput{InstanceIds: []string{id}, IncludeAllInstances: &all}))
			if len(o.InstanceStatuses) != want {
				t.Errorf("IncludeAllInstances=%t: %d statuses, want %d", all, len(o.InstanceStatuses), want)
			}
			for _, s := range o.InstanceStatuses {
				if s.InstanceState.Name != "stopped" || s.SystemStatus.Status != "not-applicable" {
					t.Errorf("state %s, system %s", s.InstanceState.Name, s.SystemStatus.Status)
				}
			}
		}
	})
}

// One value a minute for each metric while the instance runs, and none after.
func TestStatusMetrics(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		id := c.launch(0, nil)
		time.Sleep(phase(id) + checkInterval)
		synctest.Wait()
		if err := c.Vanish(id); err != nil {
			t.Fatal(err)
		}
		time.Sleep(checkInterval)
		synctest.Wait()
		must(c.StopInstances(c.req, &ec2.StopInstancesInput{InstanceIds: []string{id}, SkipOsShutdown: aws.Bool(true)}))
		time.Sleep(10 * checkInterval)
		synctest.Wait()
		got := map[string][]float64{}
		for _, d := range c.metrics.data {
			if d.Namespace != "AWS/EC2" || d.Dimensions["InstanceId"] != id {
				t.Errorf("metric %s %v", d.Namespace, d.Dimensions)
			}
			got[d.Name] = append(got[d.Name], d.Value)
		}
		want := map[string][]float64{"StatusCheckFailed": {0, 0, 1}, "StatusCheckFailed_Instance": {0, 0, 1}, "StatusCheckFailed_System": {0, 0, 1}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("metrics (-want +got):\n%s", diff)
		}
	})
}
