package ssm

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/google/go-cmp/cmp"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

const takeover = `{
  "schemaVersion": "2.2",
  "description": "Takes over.",
  "parameters": {
    "Database": {"type": "String", "allowedPattern": "^[A-Z]{1,8}$"},
    "Epoch": {"type": "String", "allowedPattern": "^[0-9]{1,19}$", "interpolationType": "ENV_VAR"},
    "Mode": {"type": "String", "default": "window", "allowedValues": ["window", "force"]},
    "Options": {"type": "StringList", "default": ["x", "y z"]},
    "Timeout": {"type": "String", "default": "60"}
  },
  "mainSteps": [
    {"action": "aws:runShellScript", "name": "check", "precondition": {"StringEquals": ["platformType", "Linux"]},
     "inputs": {"runCommand": ["check {{ Database }} {{Mode}}"], "timeoutSeconds": "10"}, "onFailure": "exit"},
    {"action": "aws:runPowerShellScript", "name": "windows", "precondition": {"StringEquals": ["platformType", "Windows"]}, "inputs": {"runCommand": ["no"]}},
    {"action": "aws:runShellScript", "name": "act", "inputs": {"runCommand": ["set -e", "act {{ Database }} '{{ Options }}'"], "timeoutSeconds": "{{ Timeout }}", "workingDirectory": "/home/db2 inst"}}
  ]
}`

func (m *manager) create(name, text string) error {
	_, err := m.CreateDocument(m.req, &ssm.CreateDocumentInput{Name: &name, Content: &text, DocumentType: "Command", DocumentFormat: "JSON"})
	return err
}

func TestStepsOfADocument(t *testing.T) {
	run(t, func(t *testing.T, m *manager) {
		if err := m.create("takeover", takeover); err != nil {
			t.Fatal(err)
		}
		id := m.send(func(in *ssm.SendCommandInput) {
			in.DocumentName, in.Parameters = aws.String("takeover"), map[string][]string{"Database": {"SAMPLE"}, "Epoch": {"7"}}
		}, nodeA)
		pass(10 * time.Second)
		m.want(id, nodeA, "Success", "Success", 0)
		type ran struct {
			Script  string
			Timeout time.Duration
			Epoch   string
		}
		var got []ran
		for _, c := range m.fleet.commands() {
			got = append(got, ran{c.Script, c.Timeout, c.Env["SSM_Epoch"]})
		}
		want := []ran{
			{"check SAMPLE window\n", 10 * time.Second, "7"},
			{"cd '/home/db2 inst' || exit 1\nset -e\nact SAMPLE '[\"x\",\"y z\"]'\n", time.Minute, "7"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("host ran (-want +got):\n%s", diff)
		}
		p := must(m.GetCommandInvocation(m.req, &ssm.GetCommandInvocationInput{CommandId: &id, InstanceId: aws.String(nodeA), PluginName: aws.String("act")}))
		if p.Status != "Success" || *p.StandardOutputContent != "done\n" {
			t.Errorf("step: %s, %q", p.Status, *p.StandardOutputContent)
		}
	})
}

func TestFailedStepWithExitEndsTheDocument(t *testing.T) {
	run(t, func(t *testing.T, m *manager) {
		if err := m.create("takeover", takeover); err != nil {
			t.Fatal(err)
		}
		m.fleet.answer = answers(0, world.CommandResult{Code: 4})
		id := m.send(func(in *ssm.SendCommandInput) {
			in.DocumentName, in.Parameters = aws.String("takeover"), map[string][]string{"Database": {"SAMPLE"}, "Epoch": {"7"}}
		}, nodeA)
		pass(10 * time.Second)
		m.want(id, nodeA, "Failed", "Failed", 4)
		if n := len(m.fleet.commands()); n != 1 {
			t.Errorf("%d steps ran", n)
		}
	})
}

func TestParametersAreChecked(t *testing.T) {
	run(t, func(t *testing.T, m *manager) {
		if err := m.create("takeover", takeover); err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			name, parameter string
			values          []string
		}{
			{"a text against its pattern", "Database", []string{"SAMPLE; rm -rf /"}},
			{"a line break after it", "Database", []string{"SAMPLE\nreboot"}},
			{"a value that is not allowed", "Mode", []string{"other"}},
			{"no value", "Mode", nil},
		} {
			given := map[string][]string{"Database": {"SAMPLE"}, "Epoch": {"7"}}
			given[tt.parameter] = tt.values
			_, err := m.SendCommand(m.req, &ssm.SendCommandInput{DocumentName: aws.String("takeover"), InstanceIds: []string{nodeA}, Parameters: given})
			if codeOf(err) != "InvalidParameters" {
				t.Errorf("%s: error is %v", tt.name, err)
			}
		}
	})
}

func TestVersionsOfADocument(t *testing.T) {
	run(t, func(t *testing.T, m *manager) {
		two := strings.Replace(takeover, "check {{", "check-two {{", 1)
		if err := m.create("takeover", takeover); err != nil {
			t.Fatal(err)
		}
		wantCode(t, m.create("takeover", takeover), "DocumentAlreadyExists")
		update := func(text string, version *string) (*ssm.UpdateDocumentOutput, error) {
			return m.UpdateDocument(m.req, &ssm.UpdateDocumentInput{Name: aws.String("takeover"), Content: &text, DocumentVersion: version})
		}
		_, err := update(takeover, aws.String("$LATEST"))
		wantCode(t, err, "DuplicateDocumentContent")
		_, err = update(two, aws.String("9"))
		wantCode(t, err, "InvalidDocumentVersion")
		if v := *must(update(two, aws.String("$LATEST"))).DocumentDescription.DocumentVersion; v != "2" {
			t.Errorf("new version is %s", v)
		}
		content := func(version *string) string {
			return *must(m.GetDocument(m.req, &ssm.GetDocumentInput{Name: aws.String("takeover"), DocumentVersion: version})).Content
		}
		if content(nil) != takeover || content(aws.String("$LATEST")) != two || content(aws.String("1")) != takeover {
			t.Error("the new version became the default by itself")
		}
		d := must(m.DescribeDocument(m.req, &ssm.DescribeDocumentInput{Name: aws.String("takeover")})).Document
		if d.Status != "Active" || *d.SchemaVersion != "2.2" || len(d.Parameters) != 5 || *d.LatestVersion != "2" || *d.DefaultVersion != "1" || d.HashType != "Sha256" {
			t.Errorf("description: %+v", d)
		}
		must(m.UpdateDocumentDefaultVersion(m.req, &ssm.UpdateDocumentDefaultVersionInput{Name: aws.String("takeover"), DocumentVersion: aws.String("2")}))
		if content(nil) != two {
			t.Error("the default did not change")
		}
		m.send(func(in *ssm.SendCommandInput) { // the caller may pin a version
			in.DocumentName, in.DocumentVersion, in.Parameters = aws.String("takeover"), aws.String("1"), map[string][]string{"Database": {"SAMPLE"}, "Epoch": {"7"}}
		}, nodeA)
		pass(10 * time.Second)
		if s := m.fleet.commands()[0].Script; !strings.HasPrefix(s, "check SAMPLE") {
			t.Errorf("version 1 ran %q", s)
		}
		l := must(m.ListDocuments(m.req, &ssm.ListDocumentsInput{Filters: []types.DocumentKeyValuesFilter{{Key: aws.String("Owner"), Values: []string{"Self"}}}})).DocumentIdentifiers
		if len(l) != 1 || *l[0].Name != "takeover" {
			t.Errorf("own documents: %v", l)
		}
		must(m.DeleteDocument(m.req, &ssm.DeleteDocumentInput{Name: aws.String("takeover")}))
		_, err = m.GetDocument(m.req, &ssm.GetDocumentInput{Name: aws.String("takeover")})
		wantCode(t, err, "InvalidDocument")
	})
}

func TestBadDocuments(t *testing.T) {
	run(t, func(t *testing.T, m *manager) {
		step := func(s string) string {
			return `{"schemaVersion":"2.2","parameters":{"P":{"type":"String"}},"mainSteps":[` + s + `]}`
		}
		for _, tt := range []struct{ name, text, code string }{
			{"cut", `{"schemaVersion":"2.2"`, "InvalidDocumentContent"},
			{"old schema", `{"schemaVersion":"1.2","mainSteps":[]}`, "InvalidDocumentContent"},
			{"no step", `{"schemaVersion":"2.2","mainSteps":[]}`, "InvalidDocumentContent"},
			{"unknown action", step(`{"action":"aws:nothing","name":"a","inputs":{"runCommand":["x"]}}`), "InvalidDocumentContent"},
			{"undeclared parameter", step(`{"action":"aws:runShellScript","name":"a","inputs":{"runCommand":["{{ Q }}"]}}`), "InvalidDocumentContent"},
			{"step name twice", step(`{"action":"aws:runShellScript","name":"a","inputs":{"runCommand":["x"]}},{"action":"aws:runShellScript","name":"a","inputs":{"runCommand":["x"]}}`), "InvalidDocumentContent"},
			{"bad pattern", `{"schemaVersion":"2.2","parameters":{"P":{"type":"String","allowedPattern":"("}},"mainSteps":[{"action":"aws:runShellScript","name":"a","inputs":{"runCommand":["x"]}}]}`, "InvalidDocumentContent"},
			{"no declaration", `{"schemaVersion":"2.2","parameters":{"P":null},"mainSteps":[{"action":"aws:runShellScript","name":"a","inputs":{"runCommand":["x"]}}]}`, "InvalidDocumentContent"},
			{"too large", strings.Repeat(" ", 64<<10) + takeover, "MaxDocumentSizeExceeded"},
		} {
			if err := m.create("bad", tt.text); codeOf(err) != tt.code {
				t.Errorf("%s: error is %v, want %s", tt.name, err, tt.code)
			}
		}
		wantCode(t, m.create("AWS-Mine", takeover), "ValidationException")
		wantCode(t, m.create("x", takeover), "ValidationException")
		_, err := m.DeleteDocument(m.req, &ssm.DeleteDocumentInput{Name: aws.String("AWS-RunShellScript")})
		wantCode(t, err, "InvalidDocument")
	})
}

func FuzzParse(f *testing.F) {
	f.Add(takeover)
	f.Add(runShellScript)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parse(text)
		if err != nil {
			if codeOf(err) == "not an AWS error" {
				t.Errorf("error without a code: %v", err)
			}
			return
		}
		values, err := c.bind(nil)
		if err == nil {
			_, _ = c.prepare(values)
		}
	})
}
