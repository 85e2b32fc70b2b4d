package ssm

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// The agent reports every five minutes that it lives, so that a dead machine
// still looks Online for so long.
// https://github.com/aws/amazon-ssm-agent#agent-configuration (HealthFrequencyMinutes)
const (
	healthPing = 5 * time.Minute
	lostAfter  = healthPing + time.Minute
	// surveyInterval is how often the sandbox looks whether agents are there.
	surveyInterval = 5 * time.Second
)

// agent is a managed instance: registered when its agent first connected.
type agent struct {
	machine    world.Machine
	registered time.Time
	pinged     time.Time
	connected  bool
}

func (a *agent) status(now time.Time) types.PingStatus {
	if now.Sub(a.pinged) < lostAfter {
		return types.PingStatusOnline
	}
	return types.PingStatusConnectionLost
}

// listen surveys the agents until the service is closed.
func (s *SSM) listen() {
	for s.world.Clock.Sleep(s.ctx, surveyInterval) == nil {
		s.survey()
	}
}

// survey takes the agents' reports: one when an agent connects, then one every
// five minutes. An instance without a profile cannot register.
// https://docs.aws.amazon.com/systems-manager/latest/userguide/setup-instance-permissions.html
func (s *SSM) survey() {
	if s.world.Inventory == nil || s.world.Hosts == nil {
		return
	}
	instances := s.world.Inventory.Instances()
	online := make([]bool, len(instances))
	for n, i := range instances {
		online[n] = i.Profile != "" && s.world.Hosts.AgentOnline(i.InstanceID)
	}
	now := s.world.Clock.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	there := map[string]bool{}
	for n, i := range instances {
		there[i.InstanceID] = true
		reg := s.region(scope{account: i.Account, region: i.Region})
		a, ok := reg.agents[i.InstanceID]
		if !ok && !online[n] {
			continue
		}
		if !ok {
			a = &agent{registered: now}
			reg.agents[i.InstanceID] = a
		}
		a.machine = i.Machine
		if online[n] && (!a.connected || now.Sub(a.pinged) >= healthPing) {
			a.pinged = now
		}
		a.connected = online[n]
	}
	for _, reg := range s.regions {
		maps.DeleteFunc(reg.agents, func(id string, _ *agent) bool { return !there[id] })
	}
}

// DescribeInstanceInformation lists the managed instances. What it says about
// an agent may be five minutes old.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_DescribeInstanceInformation.html
func (s *SSM) DescribeInstanceInformation(r *wire.Request, in *ssm.DescribeInstanceInformationInput) (*ssm.DescribeInstanceInformationOutput, error) {
	s.survey()
	reg := s.enter(r)
	defer s.mu.Unlock()
	now := s.world.Clock.Now()
	filters := slices.Clone(in.Filters)
	for _, f := range in.InstanceInformationFilterList {
		key := string(f.Key)
		filters = append(filters, types.InstanceInformationStringFilter{Key: &key, Values: f.ValueSet})
	}
	var all []types.InstanceInformation
	for _, id := range slices.Sorted(maps.Keys(reg.agents)) {
		a := reg.agents[id]
		shown := types.InstanceInformation{
			InstanceId: aws.String(id), PingStatus: a.status(now), LastPingDateTime: aws.Time(a.pinged), RegistrationDate: aws.Time(a.registered),
			AgentVersion: aws.String("3.3.0.0"), IsLatestVersion: aws.Bool(true), PlatformType: types.PlatformTypeLinux, PlatformName: aws.String("Amazon Linux"),
			PlatformVersion: aws.String("2023"), ResourceType: types.ResourceTypeEc2Instance, SourceId: aws.String(id), SourceType: types.SourceTypeAwsEc2Instance,
			IPAddress: aws.String(a.machine.PrivateIP), ComputerName: aws.String("ip-" + strings.ReplaceAll(a.machine.PrivateIP, ".", "-")),
		}
		ok, err := passesAgent(shown, a.machine.Tags, filters)
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, shown)
		}
	}
	shown, next, err := page(all, in.MaxResults, in.NextToken, 50)
	return &ssm.DescribeInstanceInformationOutput{InstanceInformationList: shown, NextToken: next}, err
}

func passesAgent(i types.InstanceInformation, tags map[string]string, filters []types.InstanceInformationStringFilter) (bool, error) {
	for _, f := range filters {
		var value string
		has := true
		switch key := aws.ToString(f.Key); {
		case key == "InstanceIds":
			value = *i.InstanceId
		case key == "PingStatus":
			value = string(i.PingStatus)
		case key == "PlatformTypes":
			value = string(i.PlatformType)
		case key == "ResourceType":
			value = string(i.ResourceType)
		case key == "AgentVersion":
			value = *i.AgentVersion
		case strings.HasPrefix(key, "tag:"):
			value, has = tags[key[len("tag:"):]]
		default:
			return false, wire.Errorf("InvalidInstanceInformationFilterValue", "The filter %s is not valid", key)
		}
		if !has || !slices.Contains(f.Values, value) {
			return false, nil
		}
	}
	return true, nil
}
