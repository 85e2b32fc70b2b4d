package expression

import (
	"testing"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// FuzzParse feeds any text to all parsers. Whatever they accept can be
// evaluated, and whatever they refuse is a ValidationException.
func FuzzParse(f *testing.F) {
	for _, source := range []string{
		"a = :one AND NOT (b < :two OR size(l) BETWEEN :one AND :ten)", "attribute_type(a, :S)", "a IN (:one, b)", "contains(l[2].x, #a)",
		"SET a = if_not_exists(a, :one) + :two, l[9] = :x REMOVE m.x ADD letters :ss DELETE letters :z", "SET l = list_append(l, :list)",
		"a, m.x, l[0]", "pk = :x AND begins_with(sk, :y)", "((a", "l[", "#", ":", "a.", "NOT", "a BETWEEN", "\x00ä", "SET a = (", "REMOVE l[0].x",
	} {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		bound, err := Bind(names, values, true)
		if err != nil {
			t.Fatal(err)
		}
		refused := func(err error) bool {
			if e, ok := err.(*wire.Error); err != nil && (!ok || e.Code != "ValidationException") {
				t.Errorf("%q: %v is no ValidationException", source, err)
			}
			return err != nil
		}
		if c, err := bound.Condition("FilterExpression", source); !refused(err) {
			c.Match(item)
			c.Match(nil)
		}
		if u, err := bound.Update(source); !refused(err) {
			_, err := u.Apply(item)
			refused(err)
			u.Changed().Apply(item)
		}
		if p, err := bound.Projection(source); !refused(err) {
			p.Apply(item)
		}
		if k, err := bound.KeyCondition(source, stringKeys); !refused(err) {
			k.Match(item)
		}
	})
}
