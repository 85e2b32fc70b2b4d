package ec2

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

func TestStopAndStartKeepAddressAndInterface(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		id := c.launch(0, func(in *ec2.RunInstancesInput) { in.PrivateIpAddress = aws.String("10.20.1.10") })
		before := c.show(id)
		c.machines.shutdown = 20 * time.Second
		c.machines.seen()

		o := must(c.StopInstances(c.req, &ec2.StopInstancesInput{InstanceIds: []string{id}}))
		if s := o.StoppingInstances[0]; s.PreviousState.Name != "running" || s.CurrentState.Name != "stopping" {
			t.Errorf("stop reports %s -> %s", s.PreviousState.Name, s.CurrentState.Name)
		}
		time.Sleep(20*time.Second + DefaultDelays.Stop - time.Millisecond)
		c.wantState(id, "stopping")
		time.Sleep(time.Millisecond)
		synctest.Wait()
		c.wantState(id, "stopped")
		if diff := cmp.Diff([]string{"shutdown", "off"}, c.machines.seen()); diff != "" {
			t.Errorf("machine (-want +got):\n%s", diff)
		}

		must(c.StopInstances(c.req, &ec2.StopInstancesInput{InstanceIds: []string{id}})) // no error
		s := must(c.StartInstances(c.req, &ec2.StartInstancesInput{InstanceIds: []string{id}})).StartingInstances[0]
		if s.PreviousState.Name != "stopped" || s.CurrentState.Name != "pending" {
			t.Errorf("start reports %s -> %s", s.PreviousState.Name, s.CurrentState.Name)
		}
		time.Sleep(DefaultDelays.Boot)
		synctest.Wait()
		after := c.show(id)
		if after.State.Name != "running" || *after.PrivateIpAddress != "10.20.1.10" || *after.NetworkInterfaces[0].NetworkInterfaceId != *before.NetworkInterfaces[0].NetworkInterfaceId {
			t.Errorf("after the start: %s, %s", after.State.Name, *after.PrivateIpAddress)
		}
	})
}

// How the machine is treated until the instance is stopped, with an operating
// system that never ends its shutdown.
func TestStopOfAHungSystem(t *testing.T) {
	for name, tt := range map[string]struct {
		force, skip bool
		after       time.Duration // until stopped; 0 = never
		machine     []string
	}{
		"graceful":             {after: 0, machine: []string{"shutdown"}},
		"force":                {force: true, after: DefaultDelays.ForceAfter + DefaultDelays.Stop, machine: []string{"shutdown", "off"}},
		"skip":                 {skip: true, after: DefaultDelays.Stop, machine: []string{"off"}},
		"force and skip (R15)": {force: true, skip: true, after: DefaultDelays.Stop, machine: []string{"off"}},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, c *cloud) {
				id := c.launch(0, nil)
				c.machines.shutdown = -1
				c.machines.seen()
				must(c.StopInstances(c.req, &ec2.StopInstancesInput{InstanceIds: []string{id}, Force: &tt.force, SkipOsShutdown: &tt.skip}))
				want := types.InstanceStateNameStopped
				if tt.after == 0 {
					tt.after, want = time.Hour, types.InstanceStateNameStopping
				} else {
					time.Sleep(tt.after - time.Millisecond)
					c.wantState(id, "stopping")
					tt.after = time.Millisecond
				}
				time.Sleep(tt.after)
				synctest.Wait()
				c.wantState(id, want)
				if diff := cmp.Diff(tt.machine, c.machines.seen()); diff != "" {
					t.Errorf("machine (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestForceHurriesAHungStop(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		id := c.launch(0, nil)
		c.machines.shutdown = -1
		must(c.StopInstances(c.req, &ec2.StopInstancesInput{InstanceIds: []string{id}}))
		time.Sleep(10 * time.Minute)
		c.wantState(id, "stopping")
		must(c.StopInstances(c.req, &ec2.StopInstancesInput{InstanceIds: []string{id}, SkipOsShutdown: aws.Bool(true)}))
		time.Sleep(DefaultDelays.Stop)
		synctest.Wait()
		c.wantState(id, "stopped")
	})
}

func TestHeldStopStaysAtStopping(t *testing.T) {
	for name, powered := range map[string]bool{"machine works on": true, "machine is off": false} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, c *cloud) {
				id := c.launch(0, nil)
				if err := c.HoldStopping(id, powered); err != nil {
					t.Fatal(err)
				}
				must(c.StopInstances(c.req, &ec2.StopInstancesInput{InstanceIds: []string{id}, Force: aws.Bool(true), SkipOsShutdown: aws.Bool(true)}))
				time.Sleep(time.Hour)
				c.wantState(id, "stopping")
				if on, _ := c.machines.Healthy(id); on != powered {
					t.Errorf("machine on = %t, want %t", on, powered)
				}
				_, err := c.StartInstances(c.req, &ec2.StartInstancesInput{InstanceIds: []string{id}})
				wantCode(t, err, "IncorrectInstanceState")
				if err := c.ReleaseStopping(id); err != nil {
					t.Fatal(err)
				}
				time.Sleep(DefaultDelays.Stop)
				synctest.Wait()
				c.wantState(id, "stopped")
			})
		})
	}
}

func TestStopIsRefused(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		id, other := c.launch(0, nil), c.launch(1, nil)
		protect := func(on bool) {
			must(c.ModifyInstanceAttribute(c.req, &ec2.ModifyInstanceAttributeInput{InstanceId: &id, DisableApiStop: &types.AttributeBooleanValue{Value: &on}}))
		}
		stop := func(in ec2.StopInstancesInput) error {
			in.InstanceIds = append(in.InstanceIds, id)
			_, err := c.StopInstances(c.req, &in)
			return err
		}
		wantCode(t, stop(ec2.StopInstancesInput{InstanceIds: []string{"i-0123456789abcdef0"}}), "InvalidInstanceID.NotFound")
		wantCode(t, stop(ec2.StopInstancesInput{InstanceIds: []string{"i-nonsense"}}), "InvalidInstanceID.Malformed")
		wantCode(t, stop(ec2.StopInstancesInput{Hibernate: aws.Bool(true)}), "UnsupportedHibernationConfiguration")
		protect(true)
		wantCode(t, stop(ec2.StopInstancesInput{Force: aws.Bool(true), SkipOsShutdown: aws.Bool(true), InstanceIds: []string{other}}), "OperationNotPermitted")
		err := stop(ec2.StopInstancesInput{DryRun: aws.Bool(true)}) // the permission, not the instance
		protect(false)
		wantCode(t, err, "DryRunOperation")
		if e := (*wire.Error)(nil); errors.As(err, &e) && e.Status != http.StatusPreconditionFailed {
			t.Errorf("HTTP status %d, want 412", e.Status)
		}
		c.wantState(id, "running")
		c.wantState(other, "running")
	})
}

func TestTerminate(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		id := c.launch(0, nil)
		eni := c.eni(id)
		kept := must(c.CreateNetworkInterface(c.req, &ec2.CreateNetworkInterfaceInput{SubnetId: &c.subnets[0]})).NetworkInterface
		must(c.AttachNetworkInterface(c.req, &ec2.AttachNetworkInterfaceInput{NetworkInterfaceId: kept.NetworkInterfaceId, InstanceId: &id, DeviceIndex: aws.Int32(1)}))
		protect := func(on bool) {
			must(c.ModifyInstanceAttribute(c.req, &ec2.ModifyInstanceAttributeInput{InstanceId: &id, DisableApiTermination: &types.AttributeBooleanValue{Value: &on}}))
		}
		protect(true)
		_, err := c.TerminateInstances(c.req, &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
		wantCode(t, err, "OperationNotPermitted")
		protect(false)
		o := must(c.TerminateInstances(c.req, &ec2.TerminateInstancesInput{InstanceIds: []string{id}}))
		if got := o.TerminatingInstances[0].CurrentState.Name; got != "shutting-down" {
			t.Errorf("state is %s", got)
		}
		time.Sleep(DefaultDelays.Stop)
		synctest.Wait()
		c.wantState(id, "terminated")
		_, err = c.DescribeNetworkInterfaces(c.req, &ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{eni}})
		wantCode(t, err, "InvalidNetworkInterfaceID.NotFound")
		n := must(c.DescribeNetworkInterfaces(c.req, &ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{*kept.NetworkInterfaceId}}))
		if n.NetworkInterfaces[0].Status != "available" {
			t.Errorf("second interface is %s, want available", n.NetworkInterfaces[0].Status)
		}
		_, err = c.StartInstances(c.req, &ec2.StartInstancesInput{InstanceIds: []string{id}})
		wantCode(t, err, "IncorrectInstanceState")
		if len(c.Instances()) != 0 {
			t.Error("a terminated instance is in the inventory")
		}
		time.Sleep(time.Hour + time.Second)
		_, err = c.DescribeInstances(c.req, &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
		wantCode(t, err, "InvalidInstanceID.NotFound")
	})
}

func TestTerminateWhilePending(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		o := must(c.RunInstances(c.req, &ec2.RunInstancesInput{ImageId: aws.String("ami-1"), MinCount: aws.Int32(1), MaxCount: aws.Int32(1), SubnetId: &c.subnets[0]}))
		id := *o.Instances[0].InstanceId
		c.wantState(id, "pending")
		_, err := c.StopInstances(c.req, &ec2.StopInstancesInput{InstanceIds: []string{id}})
		wantCode(t, err, "IncorrectInstanceState")
		must(c.TerminateInstances(c.req, &ec2.TerminateInstancesInput{InstanceIds: []string{id}}))
		time.Sleep(time.Minute)
		synctest.Wait()
		c.wantState(id, "terminated")
		for _, what := range c.machines.seen() {
			if what == "boot" {
				t.Error("the machine was booted")
			}
		}
	})
}

func TestRebootKeepsRunning(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		id := c.launch(0, nil)
		c.machines.seen()
		c.machines.shutdown = -1 // EC2 gives it four minutes
		must(c.RebootInstances(c.req, &ec2.RebootInstancesInput{InstanceIds: []string{id}}))
		time.Sleep(4*time.Minute - time.Second)
		c.wantState(id, "running")
		if diff := cmp.Diff([]string{"shutdown"}, c.machines.seen()); diff != "" {
			t.Errorf("machine (-want +got):\n%s", diff)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if diff := cmp.Diff([]string{"off", "boot"}, c.machines.seen()); diff != "" {
			t.Errorf("machine (-want +got):\n%s", diff)
		}
		c.wantState(id, "running")
	})
}

func TestFailedBootLeavesTheInstanceStopped(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		c.machines.bootErr = errors.New("no room")
		id := c.launch(0, nil)
		i := c.show(id)
		if i.State.Name != "stopped" || aws.ToString(i.StateReason.Code) != "Server.InternalError" {
			t.Errorf("state %s, reason %v", i.State.Name, i.StateReason)
		}
	})
}

func TestCloseEndsEverythingAtOnce(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		id := c.launch(0, nil)
		c.machines.shutdown = -1
		must(c.StopInstances(c.req, &ec2.StopInstancesInput{InstanceIds: []string{id}}))
		start := time.Now()
		c.Close()
		if d := time.Since(start); d != 0 {
			t.Errorf("Close took %s", d)
		}
	})
}
