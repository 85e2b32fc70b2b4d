package provider

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func ssmTags(tags map[string]string) []ssmtypes.Tag {
	out := make([]ssmtypes.Tag, 0, len(tags))
	for _, k := range sortedKeys(tags) {
		out = append(out, ssmtypes.Tag{Key: &k, Value: aws.String(tags[k])})
	}
	return out
}

// tagChange are all tags of a resource before and after.
type tagChange struct{ have, want types.Map }

// retagSSM changes the tags of a document or a parameter.
func (c *clients) retagSSM(ctx context.Context, name *string, kind ssmtypes.ResourceTypeForTagging, tags tagChange, diags *diag.Diagnostics) error {
	set, remove := tagChanges(goMap(ctx, tags.have, diags), goMap(ctx, tags.want, diags))
	if len(set) > 0 {
		if _, err := c.ssm.AddTagsToResource(ctx, &ssm.AddTagsToResourceInput{ResourceId: name, ResourceType: kind, Tags: ssmTags(set)}); err != nil {
			return err
		}
	}
	if len(remove) > 0 {
		_, err := c.ssm.RemoveTagsFromResource(ctx, &ssm.RemoveTagsFromResourceInput{ResourceId: name, ResourceType: kind, TagKeys: remove})
		return err
	}
	return nil
}
