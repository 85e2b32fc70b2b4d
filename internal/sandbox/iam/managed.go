package iam

import (
	"embed"
	"fmt"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/iam/policy"
)

// Documents of the policies managed by AWS that database hosts and functions
// usually carry.
// https://docs.aws.amazon.com/aws-managed-policy/latest/reference/policy-list.html
//
//go:embed managed/*.json
var documents embed.FS

// beforeAll dates what was there before the sandbox.
var beforeAll = time.Date(2015, 4, 9, 15, 3, 43, 0, time.UTC)

// awsManaged are these policies by ARN: the same in every account.
var awsManaged = loadManaged()

// loadManaged panics only if the binary was built from a broken document.
func loadManaged() map[string]*managedPolicy {
	all := map[string]*managedPolicy{}
	for _, p := range []struct {
		path, name, id string
		version        int // the default version at the time of writing
	}{
		{"/service-role/", "AWSLambdaBasicExecutionRole", "ANPAJNCQGXC42545SKXIK", 1},
		{"/", "AmazonSSMManagedInstanceCore", "ANPAIXSHM2BNB2D3AXXRU", 2},
		{"/", "CloudWatchAgentServerPolicy", "ANPAI5NYXNOSXEX2HTVRS", 3},
	} {
		text, err := documents.ReadFile("managed/" + p.name + ".json")
		if err != nil {
			panic(fmt.Sprintf("iam: embedded policy %s: %v", p.name, err))
		}
		doc, err := policy.Parse(policy.Identity, string(text))
		if err != nil {
			panic(fmt.Sprintf("iam: embedded policy %s: %v", p.name, err))
		}
		made := &managedPolicy{
			arn: "arn:aws:iam::aws:policy" + p.path + p.name, id: p.id, name: p.name, path: p.path,
			created: beforeAll, byAWS: true, latest: p.version,
		}
		made.current, made.updated = p.version, made.created
		made.versions = []*version{{number: p.version, stored: stored{string(text), doc}, created: made.created}}
		all[made.arn] = made
	}
	return all
}
