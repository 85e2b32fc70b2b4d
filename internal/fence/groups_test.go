package fence

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

func networkInterface(tags ...string) *types.NetworkInterface {
	return &types.NetworkInterface{
		NetworkInterfaceId: aws.String("eni-0a"), TagSet: instance("running", tags...).Tags,
		Groups: []types.GroupIdentifier{{GroupId: aws.String("sg-2")}, {GroupId: aws.String("sg-1")}},
	}
}

func TestGroups(t *testing.T) {
	n := failover.NodeConfig{ID: "a", Instance: "i-0a", ENI: "eni-0a"}
	boom := errors.New("boom")
	tests := []struct {
		name  string
		cloud cloud
		reads bool
		sets  bool
		says  string
	}{
		{"its own interface", cloud{eni: networkInterface(TagTable, table, TagGroup, "orders")}, true, true, ""},
		{"an interface of nobody else", cloud{eni: networkInterface()}, true, true, ""},
		{"R12: of another table", cloud{eni: networkInterface(TagTable, "arn:other")}, true, false, "arn:other"},
		{"R12: of another group", cloud{eni: networkInterface(TagTable, table, TagGroup, "payments")}, true, false, "payments"},
		{"no such interface", cloud{}, false, false, "no such interface"},
		{"not readable", cloud{readErr: boom}, false, false, "boom"},
		{"rejected", cloud{eni: networkInterface(), changeErr: boom}, true, false, "boom"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			i := NewInstances(&tt.cloud, clock.System(), table, "orders")
			groups, err := i.Groups(t.Context(), n)
			if (err == nil) != tt.reads || tt.reads && !slices.Equal(groups, []string{"sg-1", "sg-2"}) {
				t.Errorf("Groups = %v, %v", groups, err)
			}
			err = i.SetGroups(t.Context(), n, []string{"sg-isolated"})
			if (err == nil) != tt.sets || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("SetGroups: %v, want %q", err, tt.says)
			}
			if tt.sets && !slices.Equal(tt.cloud.grouped.Groups, []string{"sg-isolated"}) {
				t.Errorf("asked for %v", tt.cloud.grouped.Groups)
			}
		})
	}
}
