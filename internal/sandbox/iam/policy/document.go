// Package policy reads and evaluates IAM policy documents. It is pure: a
// decision depends on the documents and the request alone.
//
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
package policy

// Kind says where a document is attached, which decides what it must contain.
type Kind int

const (
	// Identity is a policy of a role, or a permissions boundary.
	Identity Kind = iota
	// Resource is a policy of a queue, a topic or a function.
	Resource
	// Trust is the policy that says who may assume a role.
	Trust
)

// Effect is what a statement does to the requests that it matches.
type Effect string

// The two effects.
const (
	Allow Effect = "Allow"
	Deny  Effect = "Deny"
)

// Version2012 is the version of the policy language with policy variables.
const Version2012 = "2012-10-17"

// Document is a policy document that Parse has accepted.
type Document struct {
	Version    string
	ID         string
	Statements []Statement
}

// Statement is one statement of a document. A statement has either the plain
// list or the negated one.
type Statement struct {
	Sid          string
	Effect       Effect
	Principal    *Principals
	NotPrincipal *Principals
	Action       []string
	NotAction    []string
	Resource     []string
	NotResource  []string
	Condition    []Condition
}

// Principals lists who a statement of a resource or trust policy is about.
type Principals struct {
	Everyone bool     // "*" or {"AWS": "*"}
	AWS      []string // ARNs and account numbers
	Service  []string // service principals such as lambda.amazonaws.com
	Others   []string // Federated and CanonicalUser: kept, never matched
}

// Condition is one key of one operator. It holds if the operator is true for
// the key's values in the request.
type Condition struct {
	Operator Operator
	Key      string
	Values   []string
}

// Malformed is the error of a document that IAM refuses to store.
type Malformed struct{ Reason string }

func (m *Malformed) Error() string { return m.Reason }
