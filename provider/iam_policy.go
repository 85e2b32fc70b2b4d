package provider

import (
	"encoding/json"
	"slices"
)

// policy is an IAM policy document.
type policy struct {
	Version   string      `json:"Version"`
	Statement []statement `json:"Statement"`
}

type statement struct {
	Sid       string                         `json:"Sid,omitempty"`
	Effect    string                         `json:"Effect"`
	Principal map[string]string              `json:"Principal,omitempty"`
	Action    []string                       `json:"Action"`
	Resource  []string                       `json:"Resource,omitempty"`
	Condition map[string]map[string][]string `json:"Condition,omitempty"`
}

// any is for actions for which the service authorization reference lists no
// resource type, such as ec2:DescribeInstances:
// https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
var anyResource = []string{"*"}

func allow(sid string, resources []string, actions ...string) statement {
	return statement{Sid: sid, Effect: "Allow", Action: actions, Resource: resources}
}

// viaService is the condition that a service uses a KMS key for the caller. AWS
// documents this form of its name, and no other one for China:
// https://docs.aws.amazon.com/kms/latest/developerguide/conditions-kms.html#conditions-kms-via-service
func viaService(service, region string) map[string]map[string][]string {
	return map[string]map[string][]string{"StringEquals": {"kms:ViaService": {service + "." + region + ".amazonaws.com"}}}
}

// useTableKey allows what DynamoDB asks KMS for in the name of those who use a
// table with a customer managed key:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
func useTableKey(keyARN, tableARN string) statement {
	if keyARN == "" {
		return statement{}
	}
	s := allow("TableKey", []string{keyARN}, "kms:Decrypt", "kms:DescribeKey")
	s.Condition = viaService("dynamodb", regionOf(tableARN))
	return s
}

// document drops statements without resources: they would allow nothing, and
// IAM refuses them.
func document(statements ...statement) policy {
	return policy{Version: "2012-10-17", Statement: slices.DeleteFunc(statements, func(s statement) bool {
		return len(s.Resource) == 0 && s.Principal == nil
	})}
}

func (p policy) String() string {
	b, err := json.Marshal(p)
	if err != nil {
		return "{}" // strings and slices of strings always marshal
	}
	return string(b)
}

// sameJSON compares two documents regardless of spaces and order of keys.
func sameJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return a == b
	}
	ja, errA := json.Marshal(x)
	jb, errB := json.Marshal(y)
	return errA == nil && errB == nil && string(ja) == string(jb)
}
