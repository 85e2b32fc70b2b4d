package lambda_test

import (
	"testing"
	"testing/synctest"
)

// An event of a caller whose permissions are known needs no resource policy,
// but everything else.
func TestEnqueue(t *testing.T) {
	const arn = "arn:aws:lambda:eu-central-1:123456789012:function:f"
	virtual(t, func(t *testing.T, c *client, r *runs) {
		noError(t, c.lambda.Enqueue(arn, []byte(`{"do":"watch"}`)))
		synctest.Wait()
		if len(r.list()) != 1 {
			t.Errorf("%d runs, want 1", len(r.list()))
		}
		wantCode(t, c.lambda.Enqueue(arn+"2", []byte(`{}`)), "ResourceNotFoundException")
		wantCode(t, c.lambda.Enqueue(arn, []byte(`no JSON`)), "InvalidRequestContentException")
		wantCode(t, c.lambda.Enqueue(queue, []byte(`{}`)), "InvalidParameterValueException")
	})
}
