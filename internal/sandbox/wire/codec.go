package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/encoding/cbor"
	"github.com/aws/smithy-go/traits"
)

// call is a request whose protocol, service and operation are known.
type call struct {
	protocol  Protocol
	service   *Service // nil if the sandbox has none for it
	operation string
	op        *operation // nil if the service has none for it
	requestID string
	http      *http.Request
	body      []byte
	form      *form             // of the query protocols
	labels    map[string]string // of the REST protocols' paths
	err       error             // the request was too malformed to be recognised
}

// answer is what goes back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func newAnswer(status int, contentType string, body []byte) *answer {
	return &answer{status: status, header: http.Header{"Content-Type": {contentType}}, body: body}
}

// codec reads and writes the messages of one protocol.
type codec interface {
	decode(c *call, in reflect.Value) error
	encode(c *call, out any) (*answer, error)
	fault(c *call, f *fault) *answer
}

var codecs = map[Protocol]codec{
	JSON10:   jsonCodec{"application/x-amz-json-1.0"},
	JSON11:   jsonCodec{"application/x-amz-json-1.1"},
	CBOR:     cborCodec{},
	Query:    queryCodec{},
	EC2Query: ec2Codec{},
	RestJSON: restCodec{},
	RestXML:  restXMLCodec{},
}

func describe(out any) (*node, error) {
	s, ok := out.(smithy.Serializable)
	if !ok {
		return nil, fmt.Errorf("%T has no schema", out)
	}
	n, err := treeOf(s)
	if err == nil {
		sayZeros(n, reflect.ValueOf(out))
	}
	return n, err
}

// jsonCodec is awsJson1_0 and awsJson1_1.
// https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html
type jsonCodec struct{ contentType string }

func (jsonCodec) decode(c *call, in reflect.Value) error {
	tree, err := parseJSON(c.body)
	if err != nil {
		return err
	}
	return set(in, tree)
}

func (j jsonCodec) encode(_ *call, out any) (*answer, error) {
	n, err := describe(out)
	if err != nil {
		return nil, err
	}
	return newAnswer(http.StatusOK, j.contentType, appendJSON(nil, n, false)), nil
}

func (j jsonCodec) fault(c *call, f *fault) *answer {
	a := newAnswer(f.status, j.contentType, appendJSON(nil, f.typed(c.service), false))
	f.queryCompatible(c.service, a.header)
	return a
}

// cborCodec is rpcv2Cbor.
// https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html
type cborCodec struct{}

func (cborCodec) decode(c *call, in reflect.Value) error {
	tree, err := parseCBOR(c.body)
	if err != nil {
		return err
	}
	return set(in, tree)
}

func (cborCodec) answer(status int, n *node) *answer {
	a := newAnswer(status, "application/cbor", cbor.Encode(toCBOR(n)))
	a.header.Set("Smithy-Protocol", "rpc-v2-cbor")
	return a
}

func (k cborCodec) encode(_ *call, out any) (*answer, error) {
	n, err := describe(out)
	if err != nil {
		return nil, err
	}
	return k.answer(http.StatusOK, n), nil
}

func (k cborCodec) fault(c *call, f *fault) *answer {
	a := k.answer(f.status, f.typed(c.service))
	f.queryCompatible(c.service, a.header)
	return a
}

// typed returns the members of f with its name, as RPC protocols send them.
func (f *fault) typed(s *Service) *node {
	name := f.code
	n := &node{kind: structNode}
	if f.body != nil {
		n.fields = f.body.fields
		if s != nil && s.Schema != nil {
			name = s.Schema.ID().Namespace + "#" + name
		}
	}
	if n.member("message") == nil && n.member("Message") == nil {
		n.fields = append([]field{{"message", &node{kind: scalarNode, scalar: f.message}}}, n.fields...)
	}
	n.fields = append([]field{{"__type", &node{kind: scalarNode, scalar: name}}}, n.fields...)
	return n
}

// queryCompatible adds the error's older name for services that once spoke a
// query protocol.
// https://smithy.io/2.0/aws/protocols/aws-query-protocol.html#aws-protocols-awsquerycompatible-trait
func (f *fault) queryCompatible(s *Service, h http.Header) {
	if s == nil || s.Schema == nil {
		return
	}
	if _, ok := smithy.SchemaTrait[*traits.AWSQueryCompatible](s.Schema.Schema); ok {
		h.Set("x-amzn-query-error", f.queryCode+";"+f.blame())
	}
}

func (f *fault) blame() string {
	if f.server {
		return "Receiver"
	}
	return "Sender"
}

// queryCodec is awsQuery.
// https://smithy.io/2.0/aws/protocols/aws-query-protocol.html
type queryCodec struct{}

func (queryCodec) decode(c *call, in reflect.Value) error {
	return setForm(in, c.form, queryNames)
}

func (queryCodec) encode(c *call, out any) (*answer, error) {
	n, err := describe(out)
	if err != nil {
		return nil, err
	}
	var w bytes.Buffer
	fmt.Fprintf(&w, "<%sResponse xmlns=%q>", c.operation, c.service.Namespace)
	if n.schema != nil {
		writeXML(&w, c.operation+"Result", &node{kind: structNode, fields: n.fields})
	}
	fmt.Fprintf(&w, "<ResponseMetadata><RequestId>%s</RequestId></ResponseMetadata></%sResponse>", c.requestID, c.operation)
	return newAnswer(http.StatusOK, "text/xml", w.Bytes()), nil
}

func (queryCodec) fault(c *call, f *fault) *answer {
	var w bytes.Buffer
	w.WriteString("<ErrorResponse")
	if c.service != nil {
		fmt.Fprintf(&w, " xmlns=%q", c.service.Namespace)
	}
	w.WriteString("><Error><Type>" + f.blame() + "</Type><Code>")
	escapeXML(&w, f.queryCode)
	w.WriteString("</Code>")
	if f.body == nil || f.body.member("message") == nil && f.body.member("Message") == nil {
		w.WriteString("<Message>")
		escapeXML(&w, f.message)
		w.WriteString("</Message>")
	}
	if f.body != nil {
		for _, m := range f.body.fields {
			// The query protocols capitalise the message in every error.
			if m.name == "message" {
				m.name = "Message"
			}
			writeXML(&w, m.name, m.node)
		}
	}
	fmt.Fprintf(&w, "</Error><RequestId>%s</RequestId></ErrorResponse>", c.requestID)
	return newAnswer(f.status, "text/xml", w.Bytes())
}

// plainFault answers requests that no protocol could be found for.
func plainFault(f *fault) *answer {
	b, err := json.Marshal(map[string]string{"__type": f.code, "message": f.message})
	if err != nil { // strings always encode
		b = nil
	}
	a := newAnswer(f.status, "application/json", b)
	a.header.Set("X-Amzn-ErrorType", f.code)
	return a
}

var errNoProtocol = errors.New("the request speaks no protocol of AWS that the sandbox knows")
