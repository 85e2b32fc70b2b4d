package ssm

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/google/go-cmp/cmp"
)

func (m *manager) put(name, value string, overwrite bool) error {
	_, err := m.PutParameter(m.req, &ssm.PutParameterInput{Name: &name, Value: &value, Type: "String", Overwrite: &overwrite})
	return err
}

func TestParametersCountTheirVersions(t *testing.T) {
	run(t, func(t *testing.T, m *manager) {
		if err := m.put("/p/a", "1", false); err != nil {
			t.Fatal(err)
		}
		wantCode(t, m.put("/p/a", "2", false), "ParameterAlreadyExists")
		if err := m.put("/p/a", "2", true); err != nil {
			t.Fatal(err)
		}
		get := func(name string) (string, int64) {
			p := must(m.GetParameter(m.req, &ssm.GetParameterInput{Name: &name})).Parameter
			return *p.Value, p.Version
		}
		for name, want := range map[string]string{"/p/a": "2", "/p/a:1": "1", "arn:aws:ssm:eu-west-1:123456789012:parameter/p/a": "2"} {
			if v, n := get(name); v != want || n < 1 {
				t.Errorf("%s is %s, version %d", name, v, n)
			}
		}
		must(m.DeleteParameter(m.req, &ssm.DeleteParameterInput{Name: aws.String("/p/a")}))
		_, err := m.GetParameter(m.req, &ssm.GetParameterInput{Name: aws.String("/p/a")})
		wantCode(t, err, "ParameterNotFound")
		_, err = m.DeleteParameter(m.req, &ssm.DeleteParameterInput{Name: aws.String("/p/a")})
		wantCode(t, err, "ParameterNotFound")
	})
}

func TestParametersByPath(t *testing.T) {
	run(t, func(t *testing.T, m *manager) {
		for _, name := range []string{"/tree/a", "/tree/b/c", "/treetop"} {
			if err := m.put(name, "1", false); err != nil {
				t.Fatal(err)
			}
		}
		for recursive, want := range map[bool][]string{false: {"/tree/a"}, true: {"/tree/a", "/tree/b/c"}} {
			var got []string
			for _, p := range must(m.GetParametersByPath(m.req, &ssm.GetParametersByPathInput{Path: aws.String("/tree"), Recursive: &recursive})).Parameters {
				got = append(got, *p.Name)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Recursive=%t (-want +got):\n%s", recursive, diff)
			}
		}
		d := must(m.DescribeParameters(m.req, &ssm.DescribeParametersInput{ParameterFilters: []types.ParameterStringFilter{{Key: aws.String("Name"), Option: aws.String("BeginsWith"), Values: []string{"/tree/"}}}}))
		if len(d.Parameters) != 2 {
			t.Errorf("%d parameters", len(d.Parameters))
		}
		g := must(m.GetParameters(m.req, &ssm.GetParametersInput{Names: []string{"/treetop", "/nothing"}}))
		if len(g.Parameters) != 1 || len(g.InvalidParameters) != 1 {
			t.Errorf("%d parameters, %d invalid", len(g.Parameters), len(g.InvalidParameters))
		}
	})
}

func TestSecureStringsNeedDecryption(t *testing.T) {
	run(t, func(t *testing.T, m *manager) {
		must(m.PutParameter(m.req, &ssm.PutParameterInput{Name: aws.String("secret"), Value: aws.String("pass word"), Type: "SecureString"}))
		for decrypt, want := range map[bool]bool{true: true, false: false} {
			v := *must(m.GetParameter(m.req, &ssm.GetParameterInput{Name: aws.String("secret"), WithDecryption: &decrypt})).Parameter.Value
			if (v == "pass word") != want {
				t.Errorf("WithDecryption=%t: value is %q", decrypt, v)
			}
		}
	})
}

func TestBadParameters(t *testing.T) {
	run(t, func(t *testing.T, m *manager) {
		for _, tt := range []struct{ name, value, code string }{
			{"/aws/mine", "1", "ValidationException"},
			{"a/b", "1", "ValidationException"},
			{"/a b", "1", "ValidationException"},
			{"/a", "", "ValidationException"},
			{"/a", strings.Repeat("x", 4097), "ValidationException"},
			{strings.Repeat("/a", 16), "1", "HierarchyLevelLimitExceededException"},
		} {
			if err := m.put(tt.name, tt.value, false); codeOf(err) != tt.code {
				t.Errorf("%q: error is %v, want %s", tt.name, err, tt.code)
			}
		}
		_, err := m.PutParameter(m.req, &ssm.PutParameterInput{Name: aws.String("/n"), Value: aws.String("x"), Type: "String", AllowedPattern: aws.String("^[0-9]+$")})
		wantCode(t, err, "ParameterPatternMismatchException")
	})
}

func TestTagsOfParametersAndDocuments(t *testing.T) {
	run(t, func(t *testing.T, m *manager) {
		if err := m.put("/p", "1", false); err != nil {
			t.Fatal(err)
		}
		if err := m.create("takeover", takeover); err != nil {
			t.Fatal(err)
		}
		for kind, id := range map[types.ResourceTypeForTagging]string{"Parameter": "/p", "Document": "takeover"} {
			must(m.AddTagsToResource(m.req, &ssm.AddTagsToResourceInput{ResourceType: kind, ResourceId: &id, Tags: []types.Tag{{Key: aws.String("a"), Value: aws.String("1")}, {Key: aws.String("b"), Value: aws.String("2")}}}))
			must(m.RemoveTagsFromResource(m.req, &ssm.RemoveTagsFromResourceInput{ResourceType: kind, ResourceId: &id, TagKeys: []string{"a"}}))
			l := must(m.ListTagsForResource(m.req, &ssm.ListTagsForResourceInput{ResourceType: kind, ResourceId: &id})).TagList
			if len(l) != 1 || *l[0].Key != "b" {
				t.Errorf("%s: tags are %v", kind, l)
			}
		}
		_, err := m.ListTagsForResource(m.req, &ssm.ListTagsForResourceInput{ResourceType: "Document", ResourceId: aws.String("nothing")})
		wantCode(t, err, "InvalidResourceId")
	})
}

func TestInventoryIsReplaced(t *testing.T) {
	run(t, func(t *testing.T, m *manager) {
		for _, role := range []string{"standby", "primary"} {
			must(m.PutInventory(m.req, &ssm.PutInventoryInput{InstanceId: aws.String(nodeA), Items: []types.InventoryItem{{TypeName: aws.String("Custom:Replica"), SchemaVersion: aws.String("1.0"), Content: []map[string]string{{"Role": role}}}}}))
		}
		o := must(m.ListInventoryEntries(m.req, &ssm.ListInventoryEntriesInput{InstanceId: aws.String(nodeA), TypeName: aws.String("Custom:Replica")}))
		if diff := cmp.Diff([]map[string]string{{"Role": "primary"}}, o.Entries); diff != "" {
			t.Errorf("entries (-want +got):\n%s", diff)
		}
	})
}
