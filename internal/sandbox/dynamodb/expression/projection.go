package expression

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
)

// Projection is a parsed projection expression: a tree of the wanted parts.
type Projection struct {
	whole    bool // everything below
	children map[step]*Projection
}

// Projection parses a projection expression.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.ProjectionExpressions.html
func (b *Bindings) Projection(source string) (*Projection, error) {
	p, err := b.parser("ProjectionExpression", source)
	if err != nil {
		return nil, err
	}
	var paths []path
	for {
		next, err := p.path()
		if err != nil {
			return nil, err
		}
		paths = append(paths, next)
		if !p.accept(",") {
			break
		}
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	if problem := clash(paths); problem != "" {
		return nil, p.errorf("%s", problem)
	}
	return newProjection(paths), nil
}

func newProjection(paths []path) *Projection {
	root := &Projection{children: map[step]*Projection{}}
	for _, p := range paths {
		at := root
		for _, s := range p {
			if at.children[s] == nil {
				at.children[s] = &Projection{children: map[step]*Projection{}}
			}
			at = at.children[s]
		}
		at.whole = true
	}
	return root
}

// Attributes returns the top-level attributes of the projection, sorted.
func (p *Projection) Attributes() []string {
	var names []string
	for s := range p.children {
		names = append(names, s.name)
	}
	slices.Sort(names)
	return names
}

// Apply returns the wanted parts of item. The wanted elements of a list move
// together. A nil Projection wants everything.
func (p *Projection) Apply(item value.Item) value.Item {
	if p == nil {
		return item
	}
	out := value.Item{}
	for s, child := range p.children {
		if v := child.pick(item[s.name]); v != nil {
			out[s.name] = v
		}
	}
	return out
}

func (p *Projection) pick(v types.AttributeValue) types.AttributeValue {
	if p.whole || v == nil {
		return v
	}
	switch v := v.(type) {
	case *types.AttributeValueMemberM:
		if m := p.Apply(v.Value); len(m) > 0 {
			return &types.AttributeValueMemberM{Value: m}
		}
	case *types.AttributeValueMemberL:
		var list []types.AttributeValue
		for _, s := range slices.SortedFunc(maps.Keys(p.children), func(a, b step) int { return a.index - b.index }) {
			if e := p.children[s].pick(s.child(v)); e != nil {
				list = append(list, e)
			}
		}
		if list != nil {
			return value.L(list...)
		}
	}
	return nil
}
