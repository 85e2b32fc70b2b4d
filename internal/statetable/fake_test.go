package statetable

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// fake is a DynamoDB table in memory. It knows the expressions that the record
// uses, and fails loudly on others. Faults decide what happens to a call.
type fake struct {
	mu    sync.Mutex
	items map[string]item
	log   []string
	fault func(op, key string) fault
}

// fault of one call.
type fault int

const (
	works        fault = iota
	lostRequest        // nothing happens, and no answer comes
	lostResponse       // it happens, but no answer comes
	repeated           // the SDK repeats a call whose answer was lost
	denied
)

var errLost = errors.New("read tcp: connection reset by peer")

func newFake() *fake {
	return &fake{items: map[string]item{}, fault: func(string, string) fault { return works }}
}

func keyOf(m item) string { return text(m["pk"]) + "/" + text(m["sk"]) }

// call runs one call under its fault.
func (f *fake) call(op, key string, do func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, op+" "+key)
	switch f.fault(op, key) {
	case lostRequest:
		return errLost
	case lostResponse:
		if err := do(); err != nil {
			return err
		}
		return errLost
	case repeated:
		if err := do(); err != nil {
			return err
		}
	case denied:
		return &types.ResourceNotFoundException{}
	}
	return do()
}

func (f *fake) GetItem(_ context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	out := &dynamodb.GetItemOutput{}
	return out, f.call("get", keyOf(in.Key), func() error {
		if in.ConsistentRead == nil || !*in.ConsistentRead {
			return errors.New("a read that is not consistent")
		}
		out.Item = maps.Clone(f.items[keyOf(in.Key)])
		return nil
	})
}

func (f *fake) PutItem(_ context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	k := keyOf(in.Item)
	return &dynamodb.PutItemOutput{}, f.call("put", k, func() error {
		if err := f.check(k, in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues); err != nil {
			return err
		}
		f.items[k] = maps.Clone(in.Item)
		return nil
	})
}

func (f *fake) DeleteItem(_ context.Context, in *dynamodb.DeleteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	k := keyOf(in.Key)
	return &dynamodb.DeleteItemOutput{}, f.call("delete", k, func() error {
		if err := f.check(k, in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues); err != nil {
			return err
		}
		delete(f.items, k)
		return nil
	})
}

func (f *fake) UpdateItem(_ context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	k := keyOf(in.Key)
	return &dynamodb.UpdateItemOutput{}, f.call("update", k, func() error {
		if err := f.check(k, in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues); err != nil {
			return err
		}
		it := maps.Clone(f.items[k])
		if it == nil {
			it = maps.Clone(in.Key)
		}
		set, remove, _ := strings.Cut(*in.UpdateExpression, "REMOVE ")
		if set = strings.TrimSpace(strings.TrimPrefix(set, "SET ")); set != "" {
			for _, a := range strings.Split(set, ", ") {
				name, value, _ := strings.Cut(a, " = ")
				it[in.ExpressionAttributeNames[name]] = in.ExpressionAttributeValues[value]
			}
		}
		if remove != "" {
			for _, name := range strings.Split(remove, ", ") {
				delete(it, in.ExpressionAttributeNames[name])
			}
		}
		f.items[k] = it
		return nil
	})
}

func (f *fake) Query(_ context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	out := &dynamodb.QueryOutput{}
	pk, prefix := text(in.ExpressionAttributeValues[":pk"]), ""
	if p, ok := in.ExpressionAttributeValues[":prefix"]; ok {
		prefix = text(p)
	}
	return out, f.call("query", pk+"/"+prefix, func() error {
		keys := slices.Sorted(maps.Keys(f.items))
		if !*in.ScanIndexForward {
			slices.Reverse(keys)
		}
		started := in.ExclusiveStartKey == nil
		for _, k := range keys {
			if !strings.HasPrefix(k, pk+"/"+prefix) {
				continue
			}
			if !started {
				started = k == keyOf(in.ExclusiveStartKey)
				continue
			}
			// Pages of two, so that reading on is tried.
			if len(out.Items) == 2 || in.Limit != nil && len(out.Items) == int(*in.Limit) {
				out.LastEvaluatedKey = key(text(out.Items[len(out.Items)-1]["pk"]), text(out.Items[len(out.Items)-1]["sk"]))
				return nil
			}
			out.Items = append(out.Items, maps.Clone(f.items[k]))
		}
		return nil
	})
}

func (f *fake) Scan(_ context.Context, in *dynamodb.ScanInput, _ ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	out := &dynamodb.ScanOutput{}
	return out, f.call("scan", "", func() error {
		for _, k := range slices.Sorted(maps.Keys(f.items)) {
			ok, err := evaluate(*in.FilterExpression, f.items[k], in.ExpressionAttributeNames, in.ExpressionAttributeValues)
			if err != nil {
				return err
			}
			if ok {
				out.Items = append(out.Items, f.items[k])
			}
		}
		return nil
	})
}

func (f *fake) check(k string, expression *string, names map[string]string, values item) error {
	if expression == nil {
		return nil
	}
	ok, err := evaluate(*expression, f.items[k], names, values)
	if err != nil {
		return err
	}
	if !ok {
		return &types.ConditionalCheckFailedException{}
	}
	return nil
}

// evaluate knows AND, OR, brackets, =, <= and attribute_(not_)exists.
func evaluate(expression string, it item, names map[string]string, values item) (bool, error) {
	for _, c := range []string{"(", ")", ","} {
		expression = strings.ReplaceAll(expression, c, " "+c+" ")
	}
	p := &evaluation{tokens: strings.Fields(expression), item: it, names: names, values: values}
	ok := p.or()
	if p.err == nil && len(p.tokens) > 0 {
		p.err = fmt.Errorf("expression not understood at %q", p.tokens)
	}
	return ok, p.err
}

type evaluation struct {
	tokens []string
	item   item
	names  map[string]string
	values item
	err    error
}

func (p *evaluation) peek(s string) bool { return len(p.tokens) > 0 && p.tokens[0] == s }

func (p *evaluation) next() string {
	if len(p.tokens) == 0 {
		p.err = errors.New("expression ends too soon")
		return ""
	}
	t := p.tokens[0]
	p.tokens = p.tokens[1:]
	return t
}

func (p *evaluation) or() bool {
	v := p.and()
	for p.err == nil && p.peek("OR") {
		p.next()
		w := p.and()
		v = v || w
	}
	return v
}

func (p *evaluation) and() bool {
	v := p.term()
	for p.err == nil && p.peek("AND") {
		p.next()
		w := p.term()
		v = v && w
	}
	return v
}

func (p *evaluation) term() bool {
	switch t := p.next(); t {
	case "(":
		v := p.or()
		p.next()
		return v
	case "attribute_exists", "attribute_not_exists":
		p.next()
		_, exists := p.item[p.name(p.next())]
		p.next()
		return exists == (t == "attribute_exists")
	default:
		left, operator, right := p.item[p.name(t)], p.next(), p.value(p.next())
		switch operator {
		case "=":
			return left != nil && describe(left) == describe(right)
		case "<=":
			l, lok := left.(*types.AttributeValueMemberN)
			r, rok := right.(*types.AttributeValueMemberN)
			if !lok || !rok {
				return false
			}
			a, _ := new(big.Rat).SetString(l.Value)
			b, _ := new(big.Rat).SetString(r.Value)
			return a.Cmp(b) <= 0
		}
		p.err = fmt.Errorf("operator %q", operator)
		return false
	}
}

func (p *evaluation) name(t string) string {
	n, ok := p.names[t]
	if !ok {
		p.err = fmt.Errorf("name %q is not defined", t)
	}
	return n
}

func (p *evaluation) value(t string) types.AttributeValue {
	v, ok := p.values[t]
	if !ok {
		p.err = fmt.Errorf("value %q is not defined", t)
	}
	return v
}
