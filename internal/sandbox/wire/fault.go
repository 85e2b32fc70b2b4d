package wire

import (
	"errors"
	"net/http"
	"reflect"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/traits"
)

// fault is an error on its way out.
type fault struct {
	code      string // name of the exception in the model
	queryCode string // its name in the query protocols, mostly the same
	message   string
	status    int
	server    bool  // the service is to blame, not the caller
	body      *node // members of a modelled exception, else nil
}

// modelled is an exception of an SDK that has schemas.
type modelled interface {
	smithy.APIError
	smithy.Serializable
}

func (s *Service) faultOf(err error) *fault {
	var m modelled
	if errors.As(err, &m) {
		return faultOfException(m)
	}
	var e *Error
	if errors.As(err, &e) {
		if m := s.exception(e); m != nil {
			f := faultOfException(m)
			if e.Status != 0 {
				f.status = e.Status
			}
			return f
		}
		return newFault(e.Code, e.Message, e.Status)
	}
	var api smithy.APIError
	if errors.As(err, &api) { // an exception of an SDK without schemas
		status := http.StatusBadRequest
		if api.ErrorFault() == smithy.FaultServer {
			status = http.StatusInternalServerError
		}
		return newFault(api.ErrorCode(), api.ErrorMessage(), status)
	}
	return newFault("InternalFailure", err.Error(), http.StatusInternalServerError)
}

func newFault(code, message string, status int) *fault {
	if status == 0 {
		status = http.StatusBadRequest
	}
	return &fault{code: code, queryCode: code, message: message, status: status, server: status >= 500}
}

func faultOfException(m modelled) *fault {
	f := newFault(m.ErrorCode(), m.ErrorMessage(), 0)
	if m.ErrorFault() == smithy.FaultServer {
		f.status, f.server = http.StatusInternalServerError, true
	}
	body, err := treeOf(m)
	if err != nil || body.schema == nil {
		return f
	}
	f.body = body
	f.code = body.schema.ID().Name
	f.queryCode = f.code
	if t, ok := smithy.SchemaTrait[*traits.AWSQueryError](body.schema); ok {
		f.queryCode = t.ErrorCode
		if t.StatusCode != 0 {
			f.status = t.StatusCode
		}
	}
	if t, ok := smithy.SchemaTrait[*traits.HTTPError](body.schema); ok {
		f.status = t.Code
	}
	return f
}

// exception returns the modelled exception that e means, by its name in the
// model or in the query protocols, or nil.
func (s *Service) exception(e *Error) modelled {
	if s == nil || s.Types == nil {
		return nil
	}
	entry, ok := s.Types.LookupEntry(e.Code)
	if !ok {
		for _, t := range s.Types.Entries {
			if q, has := smithy.SchemaTrait[*traits.AWSQueryError](t.Schema); has && q.ErrorCode == e.Code {
				entry = t
			}
		}
	}
	if entry == nil {
		return nil
	}
	m, ok := entry.New().(modelled)
	if !ok {
		return nil
	}
	v := reflect.ValueOf(m).Elem()
	if f := v.FieldByName("Message"); f.IsValid() && f.Type() == reflect.TypeFor[*string]() {
		f.Set(reflect.ValueOf(&e.Message))
	}
	for name, value := range e.Fields {
		f, x := v.FieldByName(goName(name)), reflect.ValueOf(value)
		if f.IsValid() && x.IsValid() && x.Type().AssignableTo(f.Type()) {
			f.Set(x)
		}
	}
	return m
}

// The errors of the front door, which are the same for all services.
// https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html

func unknownOperation(service, operation string) *Error {
	return Errorf("UnknownOperationException", "The sandbox does not serve the operation %s of %s.", operation, service).
		WithStatus(http.StatusNotImplemented)
}

func missingToken(p Protocol) *Error {
	if p == Query || p == EC2Query {
		return Errorf("MissingAuthenticationToken", "Request is missing Authentication Token").WithStatus(http.StatusForbidden)
	}
	return Errorf("MissingAuthenticationTokenException", "Missing Authentication Token").WithStatus(http.StatusForbidden)
}

func malformed(p Protocol, err error) *Error {
	if p == Query || p == EC2Query {
		return Errorf("MalformedQueryString", "The query cannot be read: %v", err)
	}
	return Errorf("SerializationException", "%v", err)
}
