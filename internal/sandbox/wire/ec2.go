package wire

import (
	"bytes"
	_ "embed"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
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
	if n := nodeOf(reflect.ValueOf(out), ec2Name); n != nil {
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

// ec2Name is the name of a field in an answer.
func ec2Name(t reflect.Type, field string) string {
	if name, ok := ec2().answer[t.Name()][field]; ok {
		return name
	}
	return strings.ToLower(field[:1]) + field[1:]
}
