package wire

import (
	"errors"
	"maps"
	"net/http"
	"reflect"
)

// Route binds an operation of a REST service to HTTP where the SDK has no
// schemas that do it. All members that neither Path nor Query names are in the
// body, by their names in the SDK's types.
type Route struct {
	Method string
	Path   string            // labels are named like members: "/schedules/{Name}"
	Query  map[string]string // parameter -> member: "groupName": "GroupName"

	// Of restXml only:
	Status int               // of the answer, 200 if zero
	Header map[string]string // member of the answer -> header: "Location": "Location"
}

// HandleRoute registers f as an operation of s, like Handle, for a service
// whose SDK has no schemas.
func HandleRoute[In, Out any](s *Service, name string, route Route, f func(*Request, *In) (*Out, error)) {
	o := register(s, name, f)
	o.route = &route
	o.path = newPathPattern(route.Method, route.Path)
}

// decodeByName fills an input from the body, the path and the query. Neither
// of the latter two can be overruled by the body.
func (c *call) decodeByName(in reflect.Value) error {
	tree, err := parseJSON(c.body)
	if err != nil {
		return err
	}
	members, ok := tree.(map[string]any)
	if !ok {
		return errors.New("expected a structure, got " + kindOf(tree))
	}
	maps.Copy(members, c.bindings(in))
	return set(in, members)
}

// bindings returns the members of an input that its route takes from the path
// and the query; nil for those that the request does not have.
func (c *call) bindings(in reflect.Value) map[string]any {
	members := map[string]any{}
	query := c.http.URL.Query()
	for parameter, member := range c.op.route.Query {
		values := query[parameter]
		if field := in.FieldByName(member); field.IsValid() && field.Kind() == reflect.Slice {
			members[member] = texts(values)
		} else {
			members[member] = nil
			if len(values) > 0 {
				members[member] = text(values[0])
			}
		}
	}
	for label, value := range c.labels {
		members[label] = text(value)
	}
	return members
}

func encodeByName(out any) *answer {
	n := nodeOf(reflect.ValueOf(out), func(_ reflect.Type, field string) string { return field })
	return newAnswer(http.StatusOK, "application/json", appendJSON(nil, n, false))
}
