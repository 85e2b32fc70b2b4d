package expression

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
)

// path is a document path, such as a.b[2].c.
type path []step

// step is a name, or a list index.
type step struct {
	name    string
	index   int
	isIndex bool
}

func (s step) String() string {
	if s.isIndex {
		return fmt.Sprintf("[%d]", s.index)
	}
	return s.name
}

func (p path) String() string {
	steps := make([]string, len(p))
	for i, s := range p {
		steps[i] = s.String()
	}
	return "[" + strings.Join(steps, ", ") + "]"
}

// eval returns what p leads to in item, nil if there is nothing.
func (p path) eval(item value.Item) types.AttributeValue {
	v := item[p[0].name]
	for _, s := range p[1:] {
		v = s.child(v)
	}
	return v
}

func (s step) child(v types.AttributeValue) types.AttributeValue {
	switch v := v.(type) {
	case *types.AttributeValueMemberM:
		if !s.isIndex {
			return v.Value[s.name]
		}
	case *types.AttributeValueMemberL:
		if s.isIndex && s.index < len(v.Value) {
			return v.Value[s.index]
		}
	}
	return nil
}

// assign puts v where p leads in item, which it changes in place. An index
// beyond the end of a list appends to it.
func (p path) assign(item value.Item, v types.AttributeValue) error {
	last := p[len(p)-1]
	switch parent := p.parent(item).(type) {
	case *types.AttributeValueMemberM:
		if !last.isIndex {
			parent.Value[last.name] = v
			return nil
		}
	case *types.AttributeValueMemberL:
		if last.isIndex && last.index < len(parent.Value) {
			parent.Value[last.index] = v
			return nil
		}
		if last.isIndex {
			parent.Value = append(parent.Value, v)
			return nil
		}
	}
	return errPath()
}

// remove takes away what p leads to in item. A list element only becomes nil,
// so that other indexes stay true until compact.
func (p path) remove(item value.Item) (compact func(), err error) {
	last := p[len(p)-1]
	switch parent := p.parent(item).(type) {
	case *types.AttributeValueMemberM:
		if !last.isIndex {
			delete(parent.Value, last.name)
			return func() {}, nil
		}
	case *types.AttributeValueMemberL:
		if last.isIndex {
			if last.index < len(parent.Value) {
				parent.Value[last.index] = nil
			}
			return func() { parent.Value = withoutNil(parent.Value) }, nil
		}
	}
	return nil, errPath()
}

func (p path) parent(item value.Item) types.AttributeValue {
	if len(p) == 1 {
		return &types.AttributeValueMemberM{Value: item}
	}
	return p[:len(p)-1].eval(item)
}

func withoutNil(list []types.AttributeValue) []types.AttributeValue {
	kept := list[:0]
	for _, v := range list {
		if v != nil {
			kept = append(kept, v)
		}
	}
	return kept
}

func errPath() error {
	return invalid("The document path provided in the update expression is invalid for update")
}

// clash tells if one of the paths leads through another, or if two take the
// same element for a map and for a list.
func clash(paths []path) string {
	for i, p := range paths {
		for _, q := range paths[:i] {
			if how := overlap(q, p); how != "" {
				return fmt.Sprintf("Two document paths %s with each other; must remove or rewrite one of these paths; path one: %s, path two: %s", how, q, p)
			}
		}
	}
	return ""
}

func overlap(p, q path) string {
	for i := range min(len(p), len(q)) {
		if p[i].isIndex != q[i].isIndex {
			return "conflict"
		}
		if p[i] != q[i] {
			return ""
		}
	}
	return "overlap"
}
