package route53

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// getHealthCheckStatus returns what the checkers saw last. All checkers of the
// sandbox see the same Internet, so that one probe speaks for all of them.
// https://docs.aws.amazon.com/Route53/latest/APIReference/API_GetHealthCheckStatus.html
func (r *Route53) getHealthCheckStatus(req *wire.Request, in *api.GetHealthCheckStatusInput) (*api.GetHealthCheckStatusOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, err := r.check(req.Account, in.HealthCheckId)
	if err != nil {
		return nil, err
	}
	out := &api.GetHealthCheckStatusOutput{}
	if !probes(c.config.Type) {
		word := "Failure"
		if r.healthy(c, r.now()) {
			word = "Success"
		}
		out.HealthCheckObservations = []types.HealthCheckObservation{{StatusReport: &types.StatusReport{Status: aws.String(word), CheckedTime: aws.Time(r.now())}}}
		return out, nil
	}
	if c.report == nil {
		return out, nil
	}
	for n, region := range checkerRegions(c.config) {
		out.HealthCheckObservations = append(out.HealthCheckObservations, types.HealthCheckObservation{
			Region: region, IPAddress: aws.String(fmt.Sprintf("192.0.2.%d", n+1)), // TEST-NET-1: no address of a real checker
			StatusReport: &types.StatusReport{Status: aws.String(c.report.text), CheckedTime: aws.Time(c.report.at)},
		})
	}
	return out, nil
}

// Healthy reports the status of a health check; ok is false for an unknown one.
func (r *Route53) Healthy(id string) (healthy, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.checks[id]
	if c == nil {
		return false, false
	}
	return r.healthy(c, r.now()), true
}
