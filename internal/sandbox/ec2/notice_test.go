package ec2

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/google/go-cmp/cmp"
)

// bus remembers the events that services emit.
type bus struct {
	mu     sync.Mutex
	events []string // region account event
}

func (b *bus) Emit(region, account string, event []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, fmt.Sprintf("%s %s %s", region, account, event))
}

// Every change of state is an event, and nothing else is.
func TestStateChangesAreEvents(t *testing.T) {
	run(t, func(t *testing.T, c *cloud) {
		b := &bus{}
		c.EC2.world.Events = b
		id := c.launch(0, nil)
		launched := time.Now().Add(-DefaultDelays.Boot)
		ids := []string{id}
		must(c.StopInstances(c.req, &ec2.StopInstancesInput{InstanceIds: ids, Force: aws.Bool(true)}))
		must(c.StopInstances(c.req, &ec2.StopInstancesInput{InstanceIds: ids, Force: aws.Bool(true), SkipOsShutdown: aws.Bool(true)}))
		time.Sleep(DefaultDelays.Stop)
		synctest.Wait()
		must(c.TerminateInstances(c.req, &ec2.TerminateInstancesInput{InstanceIds: ids}))
		time.Sleep(DefaultDelays.Stop)
		synctest.Wait()
		var states []string
		for n, e := range b.events {
			var x struct {
				ID, Source, Time string
				DetailType       string `json:"detail-type"`
				Resources        []string
				Detail           struct {
					Instance string `json:"instance-id"`
					State    string
				}
			}
			var region, account string
			var text []byte
			if _, err := fmt.Sscanf(e, "%s %s", &region, &account); err != nil {
				t.Fatal(err)
			}
			text = []byte(e[len(region)+len(account)+2:])
			if err := json.Unmarshal(text, &x); err != nil {
				t.Fatal(err)
			}
			arn := "arn:aws:ec2:eu-west-1:123456789012:instance/" + id
			if region != "eu-west-1" || account != "123456789012" || x.Source != "aws.ec2" || x.DetailType != "EC2 Instance State-change Notification" || x.ID == "" || x.Detail.Instance != id || fmt.Sprint(x.Resources) != "["+arn+"]" {
				t.Errorf("event is %s", e)
			}
			if want := launched.UTC().Format(time.RFC3339); n == 0 && x.Time != want {
				t.Errorf("time is %s, want %s", x.Time, want)
			}
			states = append(states, x.Detail.State)
		}
		if diff := cmp.Diff([]string{"pending", "running", "stopping", "stopped", "shutting-down", "terminated"}, states); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
	})
}
