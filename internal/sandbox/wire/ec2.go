package wire

import (
	"bytes"
	_ "embed"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"time"
)

// The SDK's EC2 client has no schemas, so that the names on the wire come from
// a table that the generator reads out of its serializers. To serve another
// operation, add its name to gen/ec2.txt and run go generate.
//
//go:generate go run ./gen -operations gen/ec2.txt -o ec2names.txt

//go:embed ec2names.txt
var ec2Table string

// ec2Names are the names that differ from the rule: in a request the Go name
// itself, in an answer the Go name with a small first letter.
type ec2Names struct {
	request map[string]map[string]string // type -> name in the form -> Go field
	answer  map[string]map[string]string // type -> Go field -> element
}

var ec2 = sync.OnceValue(func() ec2Names {
	n := ec2Names{map[string]map[string]string{}, map[string]map[string]string{}}
	for line := range strings.Lines(ec2Table) {
		w := strings.Fields(line)
		if len(w) < 3 || w[0] == "#" {
			continue
		}
		m := make(map[string]string, len(w)-2)
		for _, pair := range w[2:] {
			goField, name, _ := strings.Cut(pair, "=")
			if w[0] == "in" {
				m[name] = goField
			} else {
				m[goField] = name
			}
		}
		if w[0] == "in" {
			n.request[w[1]] = m
		} else {
			n.answer[w[1]] = m
		}
	}
	return n
})

// ec2Codec is ec2Query.
// https://smithy.io/2.0/aws/protocols/aws-ec2-query-protocol.html
type ec2Codec struct{}

func (ec2Codec) decode(c *call, in reflect.Value) error {
	names := ec2().request
	return setForm(in, c.form, func(t reflect.Type, name string) string {
		if f, ok := names[t.Name()][name]; ok {
			return f
		}
		return name
	})
}

func (ec2Codec) encode(c *call, out any) (*answer, error) {
	var w bytes.Buffer
	fmt.Fprintf(&w, "<%sResponse xmlns=%q><requestId>%s</requestId>", c.operation, c.service.Namespace, c.requestID)
	if n := ec2Node(reflect.ValueOf(out)); n != nil {
		writeXMLContent(&w, n)
	}
	fmt.Fprintf(&w, "</%sResponse>", c.operation)
	return newAnswer(http.StatusOK, "text/xml;charset=UTF-8", w.Bytes()), nil
}

func (ec2Codec) fault(c *call, f *fault) *answer {
	var w bytes.Buffer
	w.WriteString("<Response><Errors><Error><Code>")
	escapeXML(&w, f.queryCode)
	w.WriteString("</Code><Message>")
	escapeXML(&w, f.message)
	fmt.Fprintf(&w, "</Message></Error></Errors><RequestID>%s</RequestID></Response>", c.requestID)
	return newAnswer(f.status, "text/xml;charset=UTF-8", w.Bytes())
}

// ec2Node returns v as a tree; nil if it is not set.
func ec2Node(v reflect.Value) *node {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return ec2Node(v.Elem())
	case reflect.Struct:
		if v.Type() == timeType {
			return &node{kind: scalarNode, scalar: v.Interface().(time.Time)}
		}
		return ec2Struct(v)
	case reflect.Slice:
		if v.IsNil() {
			return nil
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return &node{kind: scalarNode, scalar: v.Bytes()}
		}
		n := &node{kind: listNode, item: "item"}
		for i := range v.Len() {
			if e := ec2Node(v.Index(i)); e != nil {
				n.items = append(n.items, e)
			}
		}
		return n
	case reflect.String:
		return &node{kind: scalarNode, scalar: v.String()}
	case reflect.Bool:
		return &node{kind: scalarNode, scalar: v.Bool()}
	case reflect.Int32, reflect.Int64:
		return &node{kind: scalarNode, scalar: v.Int()}
	case reflect.Float32, reflect.Float64:
		return &node{kind: scalarNode, scalar: v.Float()}
	default:
		return nil
	}
}

func ec2Struct(v reflect.Value) *node {
	t := v.Type()
	names := ec2().answer[t.Name()]
	n := &node{kind: structNode}
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() || f.Name == "ResultMetadata" {
			continue
		}
		// An enumeration without a value is absent; everything else that can
		// be absent is a pointer or a list.
		if f.Type.Kind() == reflect.String && v.Field(i).Len() == 0 {
			continue
		}
		e := ec2Node(v.Field(i))
		if e == nil {
			continue
		}
		name, ok := names[f.Name]
		if !ok {
			name = lowerFirst(f.Name)
		}
		n.fields = append(n.fields, field{name, e})
	}
	return n
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }
