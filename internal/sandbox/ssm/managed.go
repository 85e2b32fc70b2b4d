package ssm

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

type inventoryKey struct{ instance, kind string }

type inventoryEntry struct {
	captured, schema string
	content          []map[string]string
}

// PutInventory replaces what an instance says about itself under a type.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutInventory.html
func (s *SSM) PutInventory(r *wire.Request, in *ssm.PutInventoryInput) (*ssm.PutInventoryOutput, error) {
	s.survey()
	reg := s.enter(r)
	defer s.mu.Unlock()
	id := aws.ToString(in.InstanceId)
	if _, ok := reg.agents[id]; !ok {
		return nil, invalidInstance(id)
	}
	for _, item := range in.Items {
		reg.inventory[inventoryKey{id, aws.ToString(item.TypeName)}] = inventoryEntry{
			captured: aws.ToString(item.CaptureTime), schema: aws.ToString(item.SchemaVersion), content: item.Content,
		}
	}
	return &ssm.PutInventoryOutput{Message: aws.String("Inventory was accepted.")}, nil
}

// ListInventoryEntries shows what an instance said under a type.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_ListInventoryEntries.html
func (s *SSM) ListInventoryEntries(r *wire.Request, in *ssm.ListInventoryEntriesInput) (*ssm.ListInventoryEntriesOutput, error) {
	s.survey()
	reg := s.enter(r)
	defer s.mu.Unlock()
	id := aws.ToString(in.InstanceId)
	if _, ok := reg.agents[id]; !ok {
		return nil, invalidInstance(id)
	}
	if len(in.Filters) > 0 {
		return nil, wire.Errorf("InvalidFilter", "The sandbox does not filter inventory entries")
	}
	out := &ssm.ListInventoryEntriesOutput{InstanceId: in.InstanceId, TypeName: in.TypeName}
	e, ok := reg.inventory[inventoryKey{id, aws.ToString(in.TypeName)}]
	if !ok {
		return out, nil
	}
	out.CaptureTime, out.SchemaVersion = aws.String(e.captured), aws.String(e.schema)
	var err error
	out.Entries, out.NextToken, err = page(e.content, in.MaxResults, in.NextToken, 50)
	return out, err
}

func invalidInstance(ids ...string) *wire.Error {
	return wire.Errorf("InvalidInstanceId", "Instances %v not in a valid state for account", ids)
}
