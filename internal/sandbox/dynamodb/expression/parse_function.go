package expression

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/dynamodb/value"
)

// arity is the number of operands of the functions of conditions.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html#Expressions.OperatorsAndFunctions.Functions
var arity = map[string]int{
	"attribute_exists": 1, "attribute_not_exists": 1, "attribute_type": 2,
	"begins_with": 2, "contains": 2, "size": 1,
}

func (p *parser) function() (node, error) {
	name := p.peek().text
	want, ok := arity[name]
	if !ok {
		return node{}, p.errorf("Invalid function name; function: %s", name)
	}
	p.take()
	p.take() // the parenthesis that isCall has seen
	if err := p.operator(); err != nil {
		return node{}, err
	}
	args, err := p.operands()
	if err != nil {
		return node{}, err
	}
	if err := p.checkArity(name, want, len(args)); err != nil {
		return node{}, err
	}
	if err := p.checkArguments(name, args); err != nil {
		return node{}, err
	}
	if name == "size" {
		return node{operand: length{args[0]}}, nil
	}
	return node{condition: call{name, args}}, nil
}

func (p *parser) checkArity(name string, want, got int) error {
	if want == got {
		return nil
	}
	return p.errorf("Incorrect number of operands for operator or function; operator or function: %s, number of operands: %d", name, got)
}

func (p *parser) checkArguments(name string, args []operand) error {
	switch name {
	case "attribute_exists", "attribute_not_exists":
		return p.needPath(name, args[0])
	case "attribute_type":
		return p.checkAttributeType(args)
	case "size":
		return p.literalType(name, args[0], "S", "B", "SS", "NS", "BS", "L", "M")
	case "begins_with":
		for _, a := range args {
			if err := p.literalType(name, a, "S", "B"); err != nil {
				return err
			}
		}
	}
	return p.distinct(name, args[0], args[1])
}

func (p *parser) checkAttributeType(args []operand) error {
	const name = "attribute_type"
	if err := p.needPath(name, args[0]); err != nil {
		return err
	}
	l, ok := args[1].(literal)
	if !ok {
		return p.errorf("Incorrect operand type for operator or function; operator or function: %s, operand type: {NS,SS,L,BS,N,M,B,BOOL,NULL,S}", name)
	}
	if err := p.literalType(name, l, "S"); err != nil {
		return err
	}
	if t := l.v.(*types.AttributeValueMemberS).Value; !slices.Contains(value.Types, t) {
		return p.errorf("Invalid attribute type name found; type: %s, valid types: {%s}", t, strings.Join(value.Types, ","))
	}
	return nil
}

func (p *parser) needPath(name string, o operand) error {
	if _, ok := o.(path); !ok {
		return p.errorf("Operator or function requires a document path; operator or function: %s", name)
	}
	return nil
}

// literalType checks the type of an operand if it is known already.
func (p *parser) literalType(operator string, o operand, allowed ...string) error {
	l, ok := o.(literal)
	if !ok || slices.Contains(allowed, value.Type(l.v)) {
		return nil
	}
	return p.errorf("Incorrect operand type for operator or function; operator or function: %s, operand type: %s", operator, value.Type(l.v))
}

func (p *parser) distinct(operator string, x, y operand) error {
	a, ok1 := x.(path)
	b, ok2 := y.(path)
	if ok1 && ok2 && slices.Equal(a, b) {
		return p.errorf("The first operand must be distinct from the remaining operands for this operator or function; operator: %s, first operand: %s", operator, a)
	}
	return nil
}

// show spells a scalar as DynamoDB's messages do.
func show(v types.AttributeValue) string {
	var s string
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		s = v.Value
	case *types.AttributeValueMemberN:
		s = v.Value
	case *types.AttributeValueMemberB:
		s = base64.StdEncoding.EncodeToString(v.Value)
	}
	return "AttributeValue: {" + value.Type(v) + ":" + s + "}"
}
