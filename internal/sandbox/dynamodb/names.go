package dynamodb

import (
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

var tableName = regexp.MustCompile(`^[a-zA-Z0-9_.-]+$`)

// checkName checks the name of a table or an index.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html#HowItWorks.NamingRules
func checkName(parameter, name string) error {
	if len(name) < 3 || len(name) > 255 {
		return invalid("%s must be at least 3 characters long and at most 255 characters long", parameter)
	}
	if !tableName.MatchString(name) {
		lower := strings.ToLower(parameter[:1]) + parameter[1:]
		return invalid("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+", name, lower)
	}
	return nil
}

// locate finds where the table of a request is; the request gives its name or
// its ARN.
func locate(req *wire.Request, nameOrARN *string) (place, string, error) {
	name, here := aws.ToString(nameOrARN), place{req.Account, req.Region}
	if nameOrARN == nil {
		return here, "", invalid("The parameter 'TableName' is required but was not present in the request")
	}
	if strings.HasPrefix(name, "arn:") {
		at, table, err := parseARN(name)
		if err != nil {
			return here, "", err
		}
		if at.region != req.Region {
			return here, "", invalid("Invalid TableName: the table of %s is not in the Region %s", name, req.Region)
		}
		here, name = at, table
	}
	return here, name, checkName("TableName", name)
}

func tableARN(at place, name string) string {
	return "arn:aws:dynamodb:" + at.region + ":" + at.account + ":table/" + name
}

func parseARN(arn string) (place, string, error) {
	part := strings.SplitN(arn, ":", 6)
	if len(part) == 6 && part[0] == "arn" && part[2] == "dynamodb" {
		if name, ok := strings.CutPrefix(part[5], "table/"); ok && !strings.Contains(name, "/") {
			return place{account: part[4], region: part[3]}, name, nil
		}
	}
	return place{}, "", invalid("Invalid TableArn: Invalid ResourceArn provided as input %s", arn)
}

// lookup returns a replica in any state, nil if there is none. Tables whose
// deletion is over are gone.
func (d *DynamoDB) lookup(at place, name string) *replica {
	r := d.replicas[at][name]
	if r != nil && r.global != nil {
		d.settle(r.global)
	}
	if r != nil && r.deleting && !d.now().Before(r.settles) {
		delete(d.replicas[at], name)
		return nil
	}
	return r
}

// described finds a table for an operation on the table itself.
func (d *DynamoDB) described(req *wire.Request, nameOrARN *string) (*replica, error) {
	at, name, err := locate(req, nameOrARN)
	if err != nil {
		return nil, err
	}
	if r := d.lookup(at, name); r != nil {
		return r, nil
	}
	return nil, notFound("Requested resource not found: Table: %s not found", name)
}

// usable finds a table for an operation on its items: while it is being
// created or deleted, there is none.
func (d *DynamoDB) usable(req *wire.Request, nameOrARN *string) (*replica, error) {
	at, name, err := locate(req, nameOrARN)
	if err != nil {
		return nil, err
	}
	r := d.lookup(at, name)
	if r == nil || !r.serves(d.now()) {
		return nil, notFound("Requested resource not found")
	}
	return r, nil
}

// byARN finds a table by the ARN of its tags.
func (d *DynamoDB) byARN(arn *string) (*replica, error) {
	at, name, err := parseARN(aws.ToString(arn))
	if err != nil {
		return nil, err
	}
	if r := d.lookup(at, name); r != nil && !r.deleting {
		return r, nil
	}
	return nil, notFound("Requested resource not found: ResourcArn: %s not found", aws.ToString(arn))
}
