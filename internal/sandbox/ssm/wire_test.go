package ssm

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// inProcess serves requests without a network.
type inProcess struct{ http.Handler }

func (p inProcess) Do(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w.Result(), nil
}

// The SDK's own client sees what the service means.
func TestThroughTheSDK(t *testing.T) {
	run(t, func(t *testing.T, m *manager) {
		server := wire.NewServer(wire.Options{Account: m.req.Account})
		server.Register(m.Service())
		client := ssm.New(ssm.Options{
			Region: m.req.Region, BaseEndpoint: aws.String("http://127.0.0.1"), HTTPClient: inProcess{server}, RetryMaxAttempts: 1,
			Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
		})
		must(client.CreateDocument(t.Context(), &ssm.CreateDocumentInput{Name: aws.String("takeover"), Content: aws.String(takeover), DocumentType: "Command", DocumentFormat: "JSON"}))
		o := must(client.SendCommand(t.Context(), &ssm.SendCommandInput{
			DocumentName: aws.String("takeover"), InstanceIds: []string{nodeA}, TimeoutSeconds: aws.Int32(30), Comment: aws.String("op/step/1"),
			Parameters: map[string][]string{"Database": {"SAMPLE"}, "Epoch": {"7"}},
		}))
		in := &ssm.GetCommandInvocationInput{CommandId: o.Command.CommandId, InstanceId: aws.String(nodeA)}
		_, err := client.GetCommandInvocation(t.Context(), in)
		if e := (*types.InvocationDoesNotExist)(nil); !errors.As(err, &e) {
			t.Errorf("error is %v", err)
		}
		pass(10 * time.Second)
		i := must(client.GetCommandInvocation(t.Context(), in))
		if i.Status != "Success" || i.ResponseCode != 0 || *i.StandardOutputContent != "done\ndone\n" {
			t.Errorf("invocation is %s: %q", i.Status, *i.StandardOutputContent)
		}
		l := must(client.ListCommands(t.Context(), &ssm.ListCommandsInput{InstanceId: aws.String(nodeA)}))
		if len(l.Commands) != 1 || *l.Commands[0].Comment != "op/step/1" || l.Commands[0].RequestedDateTime == nil {
			t.Errorf("commands: %+v", l.Commands)
		}
		must(client.PutParameter(t.Context(), &ssm.PutParameterInput{Name: aws.String("/p"), Value: aws.String("v"), Type: "String"}))
		if p := must(client.GetParameter(t.Context(), &ssm.GetParameterInput{Name: aws.String("/p")})).Parameter; *p.Value != "v" || p.Version != 1 {
			t.Errorf("parameter: %+v", p)
		}
	})
}
