package wire

import (
	"errors"
	"net/http"
	"reflect"
)

// Route binds an operation of a restJson1 service to HTTP where the SDK has no
// schemas that do it. All members that neither Path nor Query names are in the
// body, by their names in the SDK's types.
type Route struct {
	Method string
	Path   string            // labels are named like members: "/schedules/{Name}"
	Query  map[string]string // parameter -> member: "groupName": "GroupName"
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
	return set(in, members)
}

func encodeByName(out any) *answer {
	n := nodeOf(reflect.ValueOf(out), func(_ reflect.Type, field string) string { return field })
	return newAnswer(http.StatusOK, "application/json", appendJSON(nil, n, false))
}
