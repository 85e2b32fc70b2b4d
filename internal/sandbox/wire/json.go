package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/traits"
)

// appendJSON writes n as the JSON protocols do. jsonName says whether the trait
// of this name counts: in restJson1 it does, in awsJson it does not.
// https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html#shape-serialization
func appendJSON(b []byte, n *node, jsonName bool) []byte {
	switch n.kind {
	case scalarNode:
		return appendJSONScalar(b, n)
	case listNode:
		b = append(b, '[')
		for i, it := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, it, jsonName)
		}
		return append(b, ']')
	case structNode, mapNode:
		b = append(b, '{')
		for i, f := range n.fields {
			if i > 0 {
				b = append(b, ',')
			}
			name := f.name
			if jsonName && n.kind == structNode {
				if t, ok := smithy.SchemaTrait[*traits.JSONName](f.node.schema); ok {
					name = t.Name
				}
			}
			b = append(appendJSONString(b, name), ':')
			b = appendJSON(b, f.node, jsonName)
		}
		return append(b, '}')
	default:
		return append(b, "null"...)
	}
}

func appendJSONScalar(b []byte, n *node) []byte {
	switch v := n.scalar.(type) {
	case string:
		return appendJSONString(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case float64:
		switch {
		case math.IsNaN(v):
			return append(b, `"NaN"`...)
		case math.IsInf(v, 1):
			return append(b, `"Infinity"`...)
		case math.IsInf(v, -1):
			return append(b, `"-Infinity"`...)
		}
		return strconv.AppendFloat(b, v, 'g', -1, 64)
	case []byte:
		return appendJSONString(b, base64.StdEncoding.EncodeToString(v))
	case time.Time:
		if f := timestampFormat(n.schema, epochSeconds); f != epochSeconds {
			return appendJSONString(b, textTime(v, f))
		}
		return strconv.AppendFloat(b, seconds(v), 'f', -1, 64)
	default:
		return append(b, "null"...)
	}
}

func appendJSONString(b []byte, s string) []byte {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil { // strings always encode
		return append(b, `""`...)
	}
	return append(b, bytes.TrimSuffix(buf.Bytes(), []byte{'\n'})...)
}

// parseJSON reads one JSON value; numbers keep their digits. No bytes at all
// are an empty structure.
func parseJSON(body []byte) (any, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return map[string]any{}, nil
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}
