package postgresql

import (
	"regexp"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/document"
)

func everyDocument(t *testing.T) map[string]document.Document {
	t.Helper()
	all := map[string]document.Document{"fence": fence}
	for _, kind := range Kinds() {
		d, err := DocumentOf(kind)
		if err != nil {
			t.Fatal(err)
		}
		all[kind] = d
	}
	return all
}

func TestDocumentOf(t *testing.T) {
	if _, err := DocumentOf("other"); err == nil || !strings.Contains(err.Error(), "demote, promote, rejoin, start, status") {
		t.Errorf("unknown kind: %v", err)
	}
	for kind, d := range everyDocument(t) {
		content, err := d.Content()
		// https://docs.aws.amazon.com/general/latest/gr/ssm.html#limits_ssm
		if err != nil || len(content) > 64<<10 {
			t.Errorf("%s: %d bytes, %v; a document may have 64 KB", kind, len(content), err)
		}
		for _, p := range d.Parameters {
			if !strings.HasPrefix(p.Pattern, "^") || !strings.HasSuffix(p.Pattern, "$") || p.Description == "" {
				t.Errorf("%s: parameter %+v is not bounded at both ends", kind, p)
			}
		}
	}
}

var good = map[string]string{
	"group": "orders", "table_arn": "arn:aws:dynamodb:eu-central-1:123456789012:table/hadr", "epoch": "8", "operation": "01JABC", "step": "promote",
	"attempt": "1", "deadline": "1772445660", "vip": "192.168.10.5", "owner": "postgres", "data": "/var/lib/postgresql/15/main",
	"bin": "/usr/lib/postgresql/15/bin", "socket": "/var/run/postgresql", "port": "5432", "config": "/etc/postgresql/15/main/postgresql.conf",
	"node": "a", "peer": "b", "peer_host": "10.0.2.10", "peer_port": "5432", "replication_user": "hadr", "sslmode": "verify-full", "mode": "sync",
	"at_least": "16/B374D848", "as": "primary", "alone": "no", "limit": "300", "limit_ms": "4000",
}

// Nothing that a shell would act on passes, whatever the parameter.
func TestParametersKeepWithinTheirQuotes(t *testing.T) {
	for kind, d := range everyDocument(t) {
		values := map[string]string{}
		for _, p := range d.Parameters {
			values[p.Name] = good[p.Name]
		}
		if err := d.Validate(values); err != nil {
			t.Fatalf("%s: good values: %v", kind, err)
		}
		for _, p := range d.Parameters {
			for _, bad := range []string{"", " ", "a'b", `a"b`, "a;b", "$(id)", "`id`", "a b", "a|b", "a&b", "a\nb", "a\\b", "a>b", "../x", "{{ x }}", "/x'", "/x y", "none\n", "1\n", "äb"} {
				if err := p.Check(bad); err == nil {
					t.Errorf("%s: parameter %s = %q was allowed", kind, p.Name, bad)
				}
			}
		}
	}
}

// Documents run in whatever sh the host has, and use what they declare.
func TestScripts(t *testing.T) {
	for kind, d := range everyDocument(t) {
		script := d.Script()
		if _, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(script), kind); err != nil {
			t.Errorf("%s is not POSIX: %v", kind, err)
		}
		for _, p := range d.Parameters {
			if !regexp.MustCompile(`\$\{?` + p.Name + `\b`).MatchString(d.Body) {
				t.Errorf("%s does not use its parameter %s", kind, p.Name)
			}
		}
	}
}

// Every parameter of every document gets a value that it takes.
func TestParametersOfSettings(t *testing.T) {
	s, err := ParseSettings(declared(nil))
	if err != nil {
		t.Fatal(err)
	}
	order := map[string]string{"epoch": "8", "operation": "01JABC", "step": "promote", "attempt": "1", "deadline": "1772445660", "limit_ms": "4000"}
	for kind, d := range everyDocument(t) {
		if err := d.Validate(s.parameters(d, "orders", "a", order)); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
