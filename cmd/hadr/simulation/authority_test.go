package simulation

import (
	"net/http"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// at is an operation with its time.
func at(call, end int64, in request, out reply) porcupine.Operation {
	return porcupine.Operation{Call: call, Return: end, Input: in, Output: out}
}

func version(n uint64) record { return record{Version: n, Epoch: 1, Phase: "steady", Primary: "a"} }

func swap(from, to uint64) request {
	next := version(to)
	return request{Expected: version(from), Next: &next}
}

func TestLinearizable(t *testing.T) {
	read := func(call, end int64, n uint64) porcupine.Operation {
		return at(call, end, request{}, reply{Swapped: true, Read: version(n)})
	}
	won, refused, unknown := reply{Swapped: true}, reply{}, reply{Unknown: true}
	claim := swap(1, 2)
	claim.Guarded = true
	tests := []struct {
		name    string
		history []porcupine.Operation
		wrong   bool
	}{
		{"a write is read", []porcupine.Operation{read(1, 2, 1), at(3, 4, swap(1, 2), won), read(5, 6, 2)}, false},
		{"a read that misses the write before it", []porcupine.Operation{read(1, 2, 1), at(3, 4, swap(1, 2), won), read(5, 6, 1)}, true},
		{"a read beside the write sees either", []porcupine.Operation{read(1, 2, 1), at(3, 9, swap(1, 2), won), read(4, 5, 1), read(6, 7, 2)}, false},
		{"a read beside the write sees it come and go", []porcupine.Operation{read(1, 2, 1), at(3, 9, swap(1, 2), won), read(4, 5, 2), read(6, 7, 1)}, true},
		{"two win the same claim", []porcupine.Operation{read(1, 2, 1), at(3, 6, swap(1, 2), won), at(4, 7, swap(1, 2), won)}, true},
		{"one of two wins", []porcupine.Operation{read(1, 2, 1), at(3, 6, swap(1, 2), won), at(4, 7, swap(1, 2), refused)}, false},
		{"a write is refused without a reason", []porcupine.Operation{read(1, 2, 1), at(3, 4, swap(1, 2), refused), read(5, 6, 1)}, true},
		{"a claim may be refused for maintenance", []porcupine.Operation{read(1, 2, 1), at(3, 4, claim, refused), read(5, 6, 1)}, false},
		{"an unknown write took effect", []porcupine.Operation{read(1, 2, 1), at(3, 20, swap(1, 2), unknown), read(5, 6, 2)}, false},
		{"an unknown write took none", []porcupine.Operation{read(1, 2, 1), at(3, 20, swap(1, 2), unknown), read(5, 6, 1), at(7, 8, swap(1, 2), won)}, false},
		{"an unknown write arrived twice", []porcupine.Operation{read(1, 2, 1), at(3, 20, swap(1, 2), unknown), read(5, 6, 2), at(7, 8, swap(2, 3), won), read(9, 10, 2)}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := linearizable(tt.history); (err != nil) != tt.wrong {
				t.Errorf("linearizable says %v", err)
			}
		})
	}
}

// TestAuthorityIsHeard: requests for STATE are understood as the table's client
// writes them, and nothing else is noted.
func TestAuthorityIsHeard(t *testing.T) {
	const (
		key   = `"Key":{"pk":{"S":"GROUP#orders"},"sk":{"S":"STATE"}}`
		write = `{` + key + `,"ConditionExpression":"#version = :version AND #epoch = :epoch","UpdateExpression":"SET #version = :set_version","ExpressionAttributeValues":{":version":{"N":"4"},":epoch":{"N":"1"},":phase":{"S":"steady"},":primary":{"S":"a"},":set_version":{"N":"5"},":set_epoch":{"N":"2"},":set_phase":{"S":"taking_over"},":set_primary":{"S":"a"}}}`
		item  = `{"Item":{"version":{"N":"5"},"epoch":{"N":"2"},"phase":{"S":"taking_over"},"primary":{"S":"a"}}}`
	)
	before, after := record{4, 1, "steady", "a"}, record{5, 2, "taking_over", "a"}
	tests := []struct {
		name, operation, body, answer string
		status                        int
		want                          []porcupine.Operation
	}{
		{"a read", "GetItem", `{` + key + `}`, item, 200, []porcupine.Operation{{Input: request{}, Output: reply{Swapped: true, Read: after}}}},
		{"a read without an answer", "GetItem", `{` + key + `}`, "", 500, nil},
		{"a write", "UpdateItem", write, "{}", 200, []porcupine.Operation{{Input: request{before, &after, false}, Output: reply{Swapped: true}}}},
		{"a refused write", "UpdateItem", write, `{"__type":"ConditionalCheckFailedException"}`, 400, []porcupine.Operation{{Input: request{before, &after, false}, Output: reply{}}}},
		{"a write without an answer", "UpdateItem", write, "", 503, []porcupine.Operation{{Input: request{before, &after, false}, Output: reply{Unknown: true}}}},
		{"a throttled write", "UpdateItem", write, `{"__type":"ThrottlingException"}`, 400, nil},
		{"a person's switch", "UpdateItem", `{` + key + `,"UpdateExpression":"SET maintenance = :on"}`, "{}", 200, nil},
		{"another item", "GetItem", `{"Key":{"pk":{"S":"STATE"},"sk":{"S":"CONFIG"}}}`, item, 200, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var a authority
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://sandbox.invalid/", strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+tt.operation)
			a.call("watch", r, []byte(tt.body)).answered(&http.Response{StatusCode: tt.status}, []byte(tt.answer))
			ignored := cmpopts.IgnoreFields(porcupine.Operation{}, "Call", "Return")
			if diff := cmp.Diff(tt.want, a.history, ignored, cmp.AllowUnexported(porcupine.Operation{})); diff != "" {
				t.Errorf("history (-want +got):\n%s", diff)
			}
		})
	}
}
