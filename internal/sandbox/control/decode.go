package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxBody bounds a request. The largest fault has a few hundred bytes.
const maxBody = 64 << 10

func bad(field, format string, args ...any) error {
	return &problem{http.StatusBadRequest, field, fmt.Sprintf(format, args...)}
}

// decode reads one JSON object into v, whose fields are all that it may have.
func decode(body io.Reader, v any) error {
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return explain(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return bad("", "the body holds more than one JSON object")
	}
	return nil
}

// explain says what is wrong with a body in words of JSON, not of Go.
func explain(err error) error {
	var large *http.MaxBytesError
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &large):
		return bad("", "the body is larger than %d bytes", large.Limit)
	case errors.Is(err, io.EOF):
		return bad("", "the body is empty: send a JSON object")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return bad("", "the JSON ends too early")
	case errors.As(err, &syntax):
		return bad("", "no JSON: %v, after byte %d", err, syntax.Offset)
	case errors.As(err, &kind):
		field := kind.Field[strings.LastIndex(kind.Field, ".")+1:]
		if field == "" {
			return bad("", "the body is a JSON %s; send an object", kind.Value)
		}
		return bad(field, "%s: %s is not of the type that it takes, which is %s", field, kind.Value, kind.Type.Kind())
	}
	text := strings.TrimPrefix(err.Error(), "json: ")
	if field, ok := strings.CutPrefix(text, "unknown field "); ok {
		field = strings.Trim(field, `"`)
		return bad(field, "%s: there is no such field", field)
	}
	return bad("", "%s", text)
}
