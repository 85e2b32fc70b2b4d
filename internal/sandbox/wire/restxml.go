package wire

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
)

// restXMLCodec is restXml, for services whose SDK has no schemas (Route 53):
// their operations are registered with HandleRoute. The elements are called
// like the SDK's fields.
// https://smithy.io/2.0/aws/protocols/aws-restxml-protocol.html
type restXMLCodec struct{}

func (restXMLCodec) decode(c *call, in reflect.Value) error {
	if len(bytes.TrimSpace(c.body)) > 0 {
		root, err := parseXML(c.body)
		if err != nil {
			return err
		}
		if err := setXML(in, root); err != nil {
			return err
		}
	}
	return set(in, c.bindings(in))
}

func (restXMLCodec) encode(c *call, out any) (*answer, error) {
	status := c.op.route.Status
	if status == 0 {
		status = http.StatusOK
	}
	var w bytes.Buffer
	fmt.Fprintf(&w, xml.Header+"<%sResponse xmlns=%q>", c.operation, c.service.Namespace)
	n := nodeOf(reflect.ValueOf(out), func(_ reflect.Type, field string) string { return field })
	a := newAnswer(status, "text/xml", nil)
	for _, f := range n.fields {
		if header, ok := c.op.route.Header[f.name]; ok {
			a.header.Set(header, headerText(f.node))
			continue
		}
		nameItems(f.node, f.name)
		writeXML(&w, f.name, f.node)
	}
	fmt.Fprintf(&w, "</%sResponse>", c.operation)
	a.body = w.Bytes()
	return a, nil
}

func (restXMLCodec) fault(c *call, f *fault) *answer {
	var w bytes.Buffer
	fmt.Fprintf(&w, xml.Header+"<ErrorResponse")
	if c.service != nil {
		fmt.Fprintf(&w, " xmlns=%q", c.service.Namespace)
	}
	w.WriteString("><Error><Type>" + f.blame() + "</Type><Code>")
	escapeXML(&w, f.queryCode)
	w.WriteString("</Code><Message>")
	escapeXML(&w, f.message)
	fmt.Fprintf(&w, "</Message></Error><RequestId>%s</RequestId></ErrorResponse>", c.requestID)
	return newAnswer(f.status, "text/xml", w.Bytes())
}

// nameItems gives the items of the lists in n the singular of the list's name,
// as Route 53 does.
func nameItems(n *node, name string) {
	switch n.kind {
	case listNode:
		n.item = singular(name)
		for _, it := range n.items {
			nameItems(it, n.item)
		}
	case structNode:
		for _, f := range n.fields {
			nameItems(f.node, f.name)
		}
	}
}

func singular(name string) string {
	if stem, ok := strings.CutSuffix(name, "ies"); ok {
		return stem + "y"
	}
	if stem, ok := strings.CutSuffix(name, "s"); ok {
		return stem
	}
	return name + "Entry" // RecordData
}

// element is an element of XML without its attributes.
type element struct {
	name     string
	text     string
	children []*element
}

// maxXMLDepth bounds the nesting of a request: no input of restXml is deeper.
const maxXMLDepth = 32

func parseXML(body []byte) (*element, error) {
	d := xml.NewDecoder(bytes.NewReader(body))
	var stack []*element
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil, errors.New("the body has no element")
		}
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if len(stack) == maxXMLDepth {
				return nil, fmt.Errorf("%.40s: nested too deep", t.Name.Local)
			}
			e := &element{name: t.Name.Local}
			if n := len(stack); n > 0 {
				stack[n-1].children = append(stack[n-1].children, e)
			}
			stack = append(stack, e)
		case xml.CharData:
			if n := len(stack); n > 0 {
				stack[n-1].text += string(t)
			}
		case xml.EndElement:
			if len(stack) == 1 {
				return stack[0], nil
			}
			stack = stack[:len(stack)-1]
		}
	}
}

// setXML fills v from e. The items of a list may have any name.
func setXML(v reflect.Value, e *element) error {
	switch {
	case v.Kind() == reflect.Pointer:
		n := reflect.New(v.Type().Elem())
		if err := setXML(n.Elem(), e); err != nil {
			return err
		}
		v.Set(n)
		return nil
	case v.Kind() == reflect.Struct && v.Type() != timeType:
		fields := fieldsOf(v.Type())
		for _, child := range e.children {
			i, known := fields[child.name]
			if !known {
				continue
			}
			if err := setXML(v.Field(i), child); err != nil {
				return fmt.Errorf("%s: %w", child.name, err)
			}
		}
		return nil
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		s := reflect.MakeSlice(v.Type(), len(e.children), len(e.children))
		for i, child := range e.children {
			if err := setXML(s.Index(i), child); err != nil {
				return fmt.Errorf("[%d]: %w", i+1, err)
			}
		}
		v.Set(s)
		return nil
	case len(e.children) > 0:
		return fmt.Errorf("expected %s, got a structure", goKind(v.Type()))
	default:
		return set(v, text(e.text))
	}
}
