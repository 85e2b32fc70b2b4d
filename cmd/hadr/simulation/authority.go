package simulation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/hadr-dev/terraform-provider-hadr/cmd/hadr/simulation/calls"
)

// authority is the history of one item, STATE, as it went over the wire: who
// asked for what when, and what came of it.
type authority struct {
	mu      sync.Mutex
	clients map[string]int
	history []porcupine.Operation
}

// record is what the authority says. The zero value is before anybody knows.
type record struct {
	Version, Epoch uint64
	Phase, Primary string
}

// request is a read (Next is nil), or a compare-and-swap.
type request struct {
	Expected record
	Next     *record
	// Guarded may fail although the record is as expected: a claim minds
	// maintenance, too.
	Guarded bool
}

// reply is what came of a request.
type reply struct {
	Unknown bool // no answer: it may have taken effect
	Swapped bool
	Read    record
}

// lingers is how long a request that its caller has given up may still take
// effect. The sandbox gives it up with the caller.
const lingers = time.Second

// call is a request that is on its way.
type call struct {
	of      *authority
	program string
	began   time.Time
	request *request // nil for one that is not for the authority
}

// call looks whether a request is for the authority.
func (a *authority) call(program string, r *http.Request, body []byte) call {
	c := call{of: a, program: program, began: time.Now()}
	if !bytes.Contains(body, []byte(`"STATE"`)) {
		return c
	}
	var in struct {
		Key                       item
		ConditionExpression       string
		ExpressionAttributeValues item
	}
	if json.Unmarshal(body, &in) != nil || in.Key["sk"].S != "STATE" {
		return c
	}
	v := in.ExpressionAttributeValues
	switch calls.Operation(r, body) {
	case "GetItem":
		c.request = &request{}
	case "UpdateItem":
		if _, swaps := v[":set_version"]; swaps && in.ConditionExpression != "" {
			next := v.record(":set_")
			c.request = &request{Expected: v.record(":"), Next: &next, Guarded: strings.Contains(in.ConditionExpression, "maintenance")}
		}
	}
	return c
}

// item is what of DynamoDB's JSON is needed
// (https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValue.html).
type item map[string]struct{ S, N string }

func (i item) record(prefix string) record {
	return record{i.number(prefix + "version"), i.number(prefix + "epoch"), i[prefix+"phase"].S, i[prefix+"primary"].S}
}

func (i item) number(name string) (n uint64) {
	_, _ = fmt.Sscan(i[name].N, &n) // 0 where there is none
	return n
}

// answered notes what came of a call: nil where nothing came.
func (c call) answered(resp *http.Response, body []byte) {
	if c.request == nil {
		return
	}
	var out reply
	switch {
	case resp == nil || resp.StatusCode >= 500:
		out.Unknown = true
	case resp.StatusCode < 300:
		out.Swapped = true
		var got struct{ Item item }
		if c.request.Next == nil {
			if json.Unmarshal(body, &got) != nil || len(got.Item) == 0 {
				return
			}
			out.Read = got.Item.record("")
		}
	case !bytes.Contains(body, []byte("ConditionalCheckFailed")):
		return // refused before it was looked at
	}
	if out.Unknown && c.request.Next == nil {
		return // a read that nobody got
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.of.clients == nil {
		c.of.clients = map[string]int{}
	}
	id, known := c.of.clients[c.program]
	if !known {
		id = len(c.of.clients)
		c.of.clients[c.program] = id
	}
	ended := time.Now()
	if out.Unknown {
		ended = ended.Add(lingers)
	}
	c.of.history = append(c.of.history, porcupine.Operation{ClientId: id, Input: *c.request, Output: out, Call: c.began.UnixNano(), Return: ended.UnixNano()})
}

// register is what the authority must be: a register with compare-and-swap that
// is linearizable (A3). It is in any state before the first request.
var register = porcupine.NondeterministicModel{
	Init: func() []any { return []any{record{}} },
	Step: func(state, input, output any) []any {
		s, known := state.(record)
		in, asked := input.(request)
		out, answered := output.(reply)
		if !known || !asked || !answered {
			return nil
		}
		first := s == record{}
		swaps, fails := in.Next != nil && (first || s == in.Expected), first || in.Guarded || s != in.Expected
		switch {
		case in.Next == nil && (first || s == out.Read):
			return []any{out.Read}
		case out.Unknown && swaps:
			return []any{s, *in.Next}
		case out.Unknown && in.Next != nil, !out.Swapped && fails:
			return []any{s}
		case out.Swapped && swaps:
			return []any{*in.Next}
		}
		return nil
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %+v", input, output) },
}

// linearizable checks a history. It must be called outside of virtual time.
func linearizable(history []porcupine.Operation) error {
	const patience = 10 * time.Second
	switch porcupine.CheckOperationsTimeout(register.ToModel(), history, patience) {
	case porcupine.Illegal:
		return fmt.Errorf("the history of the authority, %d operations, is not linearizable (R11, A3)", len(history))
	case porcupine.Unknown:
		return fmt.Errorf("the history of the authority, %d operations, could not be checked within %s", len(history), patience)
	}
	return nil
}
