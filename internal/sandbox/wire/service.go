// Package wire speaks the AWS wire protocols for the sandbox: it decodes
// requests into the types of the AWS SDK for Go and encodes its outputs and
// errors, so that a service is nothing but functions from Input to Output.
package wire

import (
	"context"
	"fmt"
	"net/http"
	"reflect"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/traits"
)

// Protocol names a wire protocol of AWS, as Smithy calls it.
type Protocol string

// The protocols that the SDK for Go and the AWS CLI speak.
const (
	JSON10   Protocol = "awsJson1_0"
	JSON11   Protocol = "awsJson1_1"
	CBOR     Protocol = "rpcv2Cbor"
	Query    Protocol = "awsQuery"
	EC2Query Protocol = "ec2Query"
	RestJSON Protocol = "restJson1"
	RestXML  Protocol = "restXml"
)

// Service is one AWS service: its names on the wire and its operations.
type Service struct {
	Name      string                // the SigV4 signing name, such as "monitoring" or "ec2"
	Target    string                // prefix of X-Amz-Target and name in RPC v2 paths, such as "DynamoDB_20120810"
	Version   string                // API version of the query protocols, such as "2016-11-15"
	Namespace string                // XML name space of the query protocols' answers
	Default   Protocol              // what the SDK for Go speaks
	Schema    *smithy.ServiceSchema // nil for services whose SDK still has the older serializers (EC2, Route 53)
	Types     *smithy.TypeRegistry  // the SDK's, such as dynamodb.TypeRegistry: makes *Error arrive as the modelled exception, with its Fields
	Checksum  bool                  // answers carry X-Amz-Crc32, which the SDK's DynamoDB clients check

	ops map[string]*operation
}

// Request is what a service knows about a call besides its input.
type Request struct {
	Context   context.Context
	Service   string // signing name
	Operation string
	Region    string
	Account   string
	Caller    Caller
	RequestID string
	HTTP      *http.Request
	Input     any // a pointer to the SDK's input type
}

// Caller is who signed a request.
type Caller struct {
	AccessKey string
	Account   string
	ARN       string // arn:aws:sts::ACCOUNT:assumed-role/ROLE/SESSION or arn:aws:iam::ACCOUNT:root
	UserID    string
	RoleARN   string // role behind an assumed-role ARN, else ""
	Root      bool   // the account itself: every action is allowed
}

// Error is an AWS API error. A zero Status means 400.
//
// Fields are further members of the modelled exception, by their names in the
// model, such as Item of ConditionalCheckFailedException, with the types that
// the SDK gives them. They need the service's Types.
type Error struct {
	Code    string
	Message string
	Status  int
	Fields  map[string]any
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Errorf returns an Error with HTTP status 400.
func Errorf(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithStatus sets the HTTP status.
func (e *Error) WithStatus(status int) *Error {
	e.Status = status
	return e
}

type operation struct {
	name  string
	input reflect.Type
	in    *smithy.Schema // of the input; nil without schemas (EC2)
	path  *pathPattern   // of the REST protocols
	http  *traits.HTTP
	route *Route // instead of schemas
	call  func(*Request, any) (any, error)
}

// Handle registers f as an operation of s. A nil output without an error is the
// empty output.
//
// op is the SDK's schema of the operation, such as lambdaschemas.Invoke: it is
// needed for the REST protocols only. The schemas of input and output come from
// the values themselves, so that output may be nil.
func Handle[In, Out any](s *Service, name string, op, _ *smithy.Schema, f func(*Request, *In) (*Out, error)) {
	o := register(s, name, f)
	o.in = inputSchema(new(In))
	o.path, o.http = pattern(op)
}

func register[In, Out any](s *Service, name string, f func(*Request, *In) (*Out, error)) *operation {
	if s.ops == nil {
		s.ops = map[string]*operation{}
	}
	o := &operation{
		name:  name,
		input: reflect.TypeFor[In](),
		call: func(r *Request, in any) (any, error) {
			out, err := f(r, in.(*In))
			if err != nil {
				return nil, err
			}
			if out == nil {
				out = new(Out)
			}
			return out, nil
		},
	}
	s.ops[name] = o
	return o
}
