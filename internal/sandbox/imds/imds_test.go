package imds_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	sdk "github.com/aws/aws-sdk-go-v2/feature/ec2/imds"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/imds"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

const (
	id      = "i-0123456789abcdef0"
	profile = "arn:aws:iam::123456789012:instance-profile/db"
	role    = "arn:aws:iam::123456789012:role/hadr/db"
)

// identity is one role in one profile.
type identity struct {
	world.Identity
	clock    clock.Clock
	sessions int
	denied   error
}

func (i *identity) InstanceProfileRole(p string) (string, error) {
	if p != profile {
		return "", fmt.Errorf("no profile %s", p)
	}
	return role, nil
}

func (i *identity) ServiceSession(roleARN, service, session string) (world.Credentials, error) {
	if i.denied != nil || service != "ec2.amazonaws.com" || session != id {
		return world.Credentials{}, fmt.Errorf("%s for %s: %w", service, session, i.denied)
	}
	i.sessions++
	return world.Credentials{
		AccessKey: fmt.Sprintf("ASIA%d", i.sessions), SecretKey: "secret", SessionToken: "token", RoleARN: roleARN,
		Expiration: i.clock.Now().Add(6 * time.Hour),
	}, nil
}

func setup(change func(*imds.Instance)) (http.Handler, *identity) {
	w := world.New(clock.System())
	who := &identity{clock: w.Clock}
	w.Identity = who
	i := imds.Instance{
		Machine: world.Machine{
			InstanceID: id, Region: "eu-central-1", Account: "123456789012", Zone: "eu-central-1a", PrivateIP: "10.0.1.10",
			Profile: profile, ImageID: "ami-1", Tags: map[string]string{"Name": "db-a", "hadr:group": "orders"},
		},
		Type: "r6i.large", Architecture: "x86_64", TagsShown: true,
	}
	if change != nil {
		change(&i)
	}
	s := imds.New(w, func(want string) (imds.Instance, bool) { return i, want == id })
	return s.Handler(id), who
}

func get(h http.Handler, method, path string, header ...string) (int, string) {
	r := httptest.NewRequest(method, path, nil)
	for n := 0; n+1 < len(header); n += 2 {
		r.Header.Set(header[n], header[n+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	b, _ := io.ReadAll(w.Body)
	return w.Code, string(b)
}

func TestMetadata(t *testing.T) {
	h, _ := setup(nil)
	for path, want := range map[string]string{
		"/latest/meta-data/instance-id":                 id,
		"/latest/meta-data/local-ipv4":                  "10.0.1.10",
		"/latest/meta-data/placement/region":            "eu-central-1",
		"/latest/meta-data/placement/availability-zone": "eu-central-1a",
		"/latest/meta-data/placement/":                  "availability-zone\nregion",
		"/latest/meta-data/tags/instance":               "Name\nhadr:group",
		"/latest/meta-data/tags/instance/hadr:group":    "orders",
		"/latest/meta-data/iam/security-credentials/":   "db",
		"/latest/meta-data/":                            "ami-id\nhostname\niam/\ninstance-id\ninstance-type\nlocal-hostname\nlocal-ipv4\nplacement/\nservices/\ntags/",
	} {
		if code, body := get(h, "GET", path); code != 200 || body != want {
			t.Errorf("%s: %d %q, want %q", path, code, body, want)
		}
	}
	for _, path := range []string{"/", "/latest/meta-data/nothing", "/latest/user-data", "/latest/meta-data/iam/security-credentials/other", "/latest/meta-dataX"} {
		if code, _ := get(h, "GET", path); code != 404 {
			t.Errorf("%s: %d, want 404", path, code)
		}
	}
	if _, body := get(h, "GET", "/latest/meta-data/iam/info"); !strings.Contains(body, profile) {
		t.Errorf("iam/info is %s", body)
	}
}

func TestWithoutProfileOrTags(t *testing.T) {
	h, _ := setup(func(i *imds.Instance) { i.Profile, i.TagsShown = "", false })
	for _, path := range []string{"/latest/meta-data/iam/info", "/latest/meta-data/iam/security-credentials/", "/latest/meta-data/tags/instance/Name"} {
		if code, _ := get(h, "GET", path); code != 404 {
			t.Errorf("%s: %d, want 404", path, code)
		}
	}
}

func TestRoleThatDoesNotTrustEC2HasNoCredentials(t *testing.T) {
	h, who := setup(nil)
	who.denied = fmt.Errorf("not trusted")
	if code, _ := get(h, "GET", "/latest/meta-data/iam/security-credentials/db"); code != 404 {
		t.Errorf("status is %d, want 404", code)
	}
}

func TestTokens(t *testing.T) {
	const token, ttl, path = "X-aws-ec2-metadata-token", "X-aws-ec2-metadata-token-ttl-seconds", "/latest/meta-data/instance-id"
	synctest.Test(t, func(t *testing.T) {
		h, _ := setup(func(i *imds.Instance) { i.TokensRequired = true })
		if code, _ := get(h, "GET", path); code != 401 {
			t.Errorf("version 1 where tokens are required: %d, want 401", code)
		}
		for header, want := range map[string]int{"": 400, "0": 400, "21601": 400, "x": 400, "21600": 200} {
			if code, _ := get(h, "PUT", "/latest/api/token", ttl, header); code != want {
				t.Errorf("TTL %q: %d, want %d", header, code, want)
			}
		}
		if code, _ := get(h, "PUT", "/latest/api/token", ttl, "60", "X-Forwarded-For", "192.0.2.1"); code != 403 {
			t.Errorf("through a proxy: %d, want 403", code)
		}
		_, good := get(h, "PUT", "/latest/api/token", ttl, "60")
		if code, body := get(h, "GET", path, token, good); code != 200 || body != id {
			t.Errorf("with a token: %d %s", code, body)
		}
		if code, _ := get(h, "GET", path, token, good+"x"); code != 401 {
			t.Errorf("with a wrong token: %d, want 401", code)
		}
		time.Sleep(60 * time.Second)
		if code, _ := get(h, "GET", path, token, good); code != 401 {
			t.Errorf("with an old token: %d, want 401", code)
		}
	})
}

func TestCredentialsAreRenewedBeforeTheyExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, who := setup(nil)
		read := func() {
			if code, _ := get(h, "GET", "/latest/meta-data/iam/security-credentials/db"); code != 200 {
				t.Fatalf("status is %d", code)
			}
		}
		read()
		time.Sleep(5*time.Hour + 44*time.Minute)
		read()
		if who.sessions != 1 {
			t.Fatalf("%d sessions while the first was good", who.sessions)
		}
		time.Sleep(2 * time.Minute) // less than 15 minutes are left
		read()
		if who.sessions != 2 {
			t.Errorf("%d sessions, want a second before the first ends", who.sessions)
		}
	})
}

func TestSDKReadsCredentialsAndIdentity(t *testing.T) {
	h, _ := setup(func(i *imds.Instance) { i.TokensRequired = true })
	server := httptest.NewServer(h)
	defer server.Close()
	client := sdk.New(sdk.Options{Endpoint: server.URL})
	provider := ec2rolecreds.New(func(o *ec2rolecreds.Options) { o.Client = client })
	c, err := provider.Retrieve(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if c.AccessKeyID != "ASIA1" || c.SecretAccessKey != "secret" || c.SessionToken != "token" || !c.CanExpire {
		t.Errorf("credentials are %+v", c)
	}
	doc, err := client.GetInstanceIdentityDocument(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if doc.InstanceID != id || doc.Region != "eu-central-1" || doc.AccountID != "123456789012" {
		t.Errorf("identity document is %+v", doc)
	}
	region, err := client.GetRegion(context.Background(), nil)
	if err != nil || region.Region != "eu-central-1" {
		t.Errorf("region is %v, %v", region, err)
	}
}
