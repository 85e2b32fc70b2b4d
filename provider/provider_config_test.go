package provider

import (
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
)

func TestProviderExpand(t *testing.T) {
	m := providerModel{
		Region: types.StringValue("eu-central-1"), Profile: types.StringValue("db"),
		SharedConfigFiles: types.ListValueMust(types.StringType, tfValues([]string{"/a", "/b"})),
		Endpoints: types.ObjectValueMust(map[string]attr.Type{"sts": types.StringType, "ec2": types.StringType},
			map[string]attr.Value{"sts": types.StringValue("http://sts"), "ec2": types.StringNull()}),
		AllowedAccountIDs: tfSet([]string{"222222222222", "111111111111"}),
		DefaultTags:       &defaultTags{Tags: tfMap(map[string]string{"team": "db"})},
		AssumeRole: &assumeRoleModel{RoleARN: types.StringValue("arn:aws:iam::1:role/x"), Duration: types.StringValue("1h"),
			Tags: tfMap(map[string]string{"by": "terraform"})},
	}
	got, diags := m.expand(t.Context())
	if diags.HasError() {
		t.Fatal(diags)
	}
	want := settings{
		Region: "eu-central-1", Profile: "db", ConfigFiles: []string{"/a", "/b"}, MaxRetries: defaultMaxRetries,
		Endpoints: map[string]string{"sts": "http://sts"}, DefaultTags: map[string]string{"team": "db"},
		AllowedAccounts: []string{"111111111111", "222222222222"},
		AssumeRole:      &assumeRole{ARN: "arn:aws:iam::1:role/x", SessionName: "hadr", Duration: time.Hour, Tags: map[string]string{"by": "terraform"}},
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(assumeRole{})); d != "" {
		t.Error(d)
	}
}

func TestEndpointOfAService(t *testing.T) {
	found := "http://from-environment"
	s := settings{Endpoints: map[string]string{"sts": "http://declared"}}
	if got := *endpoint(s, "sts", &found); got != "http://declared" {
		t.Errorf("sts goes to %s, although endpoints names another", got)
	}
	if got := *endpoint(s, "ec2", &found); got != found {
		t.Errorf("ec2 goes to %s, want what AWS_ENDPOINT_URL says", got)
	}
}

func TestProviderAccounts(t *testing.T) {
	table := `
resource "hadr_state_table" "this" {
  name                = "hadr"
  deletion_protection = false
}`
	for name, tt := range map[string]struct{ arguments, want string }{
		"allowed":       {`allowed_account_ids = ["123456789012"]`, ""},
		"not allowed":   {`allowed_account_ids = ["111111111111"]`, `123456789012,\s+which\s+is\s+not\s+in\s+allowed_account_ids`},
		"forbidden":     {`forbidden_account_ids = ["123456789012"]`, `which\s+is\s+in\s+forbidden_account_ids`},
		"half a key":    {`access_key = "AKIDEXAMPLE"`, `secret_key`},
		"bad endpoint":  {`endpoints = { ec2 = "localhost:4566" }`, `http\s+or\s+https\s+URL`},
		"short session": {`assume_role = { role_arn = "arn:aws:iam::123456789012:role/x", duration = "1m" }`, `between\s+15m0s`},
	} {
		t.Run(name, func(t *testing.T) {
			startAWS(t)
			step := resource.TestStep{Config: sprintf("provider \"hadr\" {\n %s\n}", tt.arguments) + table}
			if tt.want != "" {
				step.ExpectError = regexp.MustCompile(tt.want)
			}
			resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: factories(), Steps: []resource.TestStep{step}})
		})
	}
}
