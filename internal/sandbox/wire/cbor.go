package wire

import (
	"fmt"
	"math"
	"time"

	"github.com/aws/smithy-go/encoding/cbor"
)

// epochTag marks a number as seconds since the Unix epoch.
// https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html#timestamp-type-serialization
const epochTag = 1

func toCBOR(n *node) cbor.Value {
	switch n.kind {
	case scalarNode:
		return scalarToCBOR(n.scalar)
	case listNode:
		l := make(cbor.List, len(n.items))
		for i, it := range n.items {
			l[i] = toCBOR(it)
		}
		return l
	case structNode, mapNode:
		m := make(cbor.Map, len(n.fields))
		for _, f := range n.fields {
			m[f.name] = toCBOR(f.node)
		}
		return m
	default:
		return &cbor.Nil{}
	}
}

func scalarToCBOR(v any) cbor.Value {
	switch v := v.(type) {
	case string:
		return cbor.String(v)
	case bool:
		return cbor.Bool(v)
	case int64:
		if v < 0 {
			return cbor.NegInt(uint64(-v))
		}
		return cbor.Uint(v)
	case float64:
		return cbor.Float64(v)
	case []byte:
		return cbor.Slice(v)
	case time.Time:
		return &cbor.Tag{ID: epochTag, Value: cbor.Float64(seconds(v))}
	default:
		return &cbor.Nil{}
	}
}

func parseCBOR(body []byte) (any, error) {
	if len(body) == 0 {
		return map[string]any{}, nil
	}
	v, err := cbor.Decode(body)
	if err != nil {
		return nil, err
	}
	return fromCBOR(v)
}

func fromCBOR(v cbor.Value) (any, error) {
	switch t := v.(type) {
	case cbor.Map:
		m := make(map[string]any, len(t))
		for k, e := range t {
			x, err := fromCBOR(e)
			if err != nil {
				return nil, err
			}
			m[k] = x
		}
		return m, nil
	case cbor.List:
		l := make([]any, len(t))
		for i, e := range t {
			x, err := fromCBOR(e)
			if err != nil {
				return nil, err
			}
			l[i] = x
		}
		return l, nil
	case cbor.Uint:
		if t > math.MaxInt64 {
			return nil, fmt.Errorf("%d is out of range", uint64(t))
		}
		return int64(t), nil
	case cbor.NegInt: // holds the absolute value; 0 stands for 2^64
		if t == 0 || t > 1<<63 {
			return nil, fmt.Errorf("-%d is out of range", uint64(t))
		}
		return -int64(t), nil
	case cbor.String:
		return string(t), nil
	case cbor.Slice:
		return []byte(t), nil
	case cbor.Bool:
		return bool(t), nil
	case cbor.Float32:
		return float64(t), nil
	case cbor.Float64:
		return float64(t), nil
	case *cbor.Tag:
		x, err := fromCBOR(t.Value)
		if err != nil || t.ID != epochTag {
			return x, err
		}
		switch n := x.(type) {
		case int64:
			return epoch(float64(n))
		case float64:
			return epoch(n)
		}
		return nil, fmt.Errorf("a timestamp holds %T", x)
	default: // null and undefined
		return nil, nil
	}
}
