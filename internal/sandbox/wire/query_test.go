package wire_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	snsschemas "github.com/aws/aws-sdk-go-v2/service/sns/schemas"
	snstypes "github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

func TestIAMQuery(t *testing.T) {
	at := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	svc := iamService()
	var created *iam.CreateRoleInput
	wire.Handle(svc, "CreateRole", nil, nil, func(_ *wire.Request, in *iam.CreateRoleInput) (*iam.CreateRoleOutput, error) {
		created = in
		return &iam.CreateRoleOutput{Role: &iamtypes.Role{RoleName: in.RoleName, Arn: aws.String("arn"), Path: aws.String("/"), RoleId: aws.String("id"), CreateDate: &at, Tags: in.Tags, Description: in.Description}}, nil
	})
	wire.Handle(svc, "GetRole", nil, nil, func(*wire.Request, *iam.GetRoleInput) (*iam.GetRoleOutput, error) {
		return nil, &iamtypes.NoSuchEntityException{Message: aws.String("The role with name " + nasty + " cannot be found.")}
	})
	wire.Handle(svc, "DeleteRole", nil, nil, func(*wire.Request, *iam.DeleteRoleInput) (*iam.DeleteRoleOutput, error) {
		return nil, wire.Errorf("DeleteConflict", "Cannot delete entity, must detach all policies first.").WithStatus(409)
	})
	wire.Handle(svc, "TagRole", nil, nil, func(*wire.Request, *iam.TagRoleInput) (*iam.TagRoleOutput, error) { return nil, nil })
	cfg, _ := serve(t, wire.Options{}, svc)
	c := iam.NewFromConfig(cfg)

	in := &iam.CreateRoleInput{RoleName: aws.String("r"), AssumeRolePolicyDocument: aws.String(`{"Version":"2012-10-17"}`), Description: aws.String(nasty), MaxSessionDuration: aws.Int32(3600),
		Tags: []iamtypes.Tag{{Key: aws.String("a"), Value: aws.String("1")}, {Key: aws.String("b"), Value: aws.String("")}}}
	out := must[*iam.CreateRoleOutput](t)(c.CreateRole(ctx, in))
	if diff := cmp.Diff(in, created, ignoreSDK()); diff != "" {
		t.Errorf("input (-sent +received):\n%s", diff)
	}
	if !out.Role.CreateDate.Equal(at) || *out.Role.Description != nasty || len(out.Role.Tags) != 2 {
		t.Errorf("role is %+v", out.Role)
	}
	_, err := c.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String("x")})
	var missing *iamtypes.NoSuchEntityException
	if !errors.As(err, &missing) || missing.ErrorMessage() != "The role with name "+nasty+" cannot be found." {
		t.Errorf("GetRole = %v, want NoSuchEntityException", err)
	}
	_, err = c.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: aws.String("x")})
	var conflict *iamtypes.DeleteConflictException
	if !errors.As(err, &conflict) {
		t.Errorf("DeleteRole = %v, want DeleteConflictException", err)
	}
	must[*iam.TagRoleOutput](t)(c.TagRole(ctx, &iam.TagRoleInput{RoleName: aws.String("r"), Tags: []iamtypes.Tag{}}))
}

// The caller is who the access key and session token belong to.
func TestCallerOfSTS(t *testing.T) {
	svc := stsService()
	wire.Handle(svc, "GetCallerIdentity", nil, nil, func(r *wire.Request, _ *sts.GetCallerIdentityInput) (*sts.GetCallerIdentityOutput, error) {
		return &sts.GetCallerIdentityOutput{Account: &r.Account, Arn: &r.Caller.ARN, UserId: aws.String(r.Region)}, nil
	})
	cfg, _ := serve(t, wire.Options{Identify: func(key, token string) (wire.Caller, *wire.Error) {
		if token != "token" {
			return wire.Caller{}, wire.Errorf("InvalidClientTokenId", "The security token included in the request is invalid.").WithStatus(403)
		}
		return wire.Caller{AccessKey: key, Account: "210987654321", ARN: "arn:aws:sts::210987654321:assumed-role/r/" + key}, nil
	}}, svc)
	out := must[*sts.GetCallerIdentityOutput](t)(sts.NewFromConfig(cfg).GetCallerIdentity(ctx, nil))
	if *out.Account != "210987654321" || *out.Arn != "arn:aws:sts::210987654321:assumed-role/r/AKIDEXAMPLE" || *out.UserId != "eu-central-1" {
		t.Errorf("identity is %s %s in %s", *out.Account, *out.Arn, *out.UserId)
	}
	cfg.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "AKID", SecretAccessKey: "s"}, nil
	})
	_, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, nil)
	wantCode(t, err, "InvalidClientTokenId")
}

// SNS names the keys of one of its maps otherwise.
func TestSNSMaps(t *testing.T) {
	svc := &wire.Service{Name: "sns", Version: "2010-03-31", Namespace: "http://sns.amazonaws.com/doc/2010-03-31/", Default: wire.Query,
		Schema: snsschemas.AmazonSimpleNotificationService, Types: sns.TypeRegistry}
	var published *sns.PublishInput
	wire.Handle(svc, "Publish", nil, nil, func(_ *wire.Request, in *sns.PublishInput) (*sns.PublishOutput, error) {
		published = in
		return &sns.PublishOutput{MessageId: aws.String("m")}, nil
	})
	wire.Handle(svc, "CreateTopic", nil, nil, func(_ *wire.Request, in *sns.CreateTopicInput) (*sns.CreateTopicOutput, error) {
		return &sns.CreateTopicOutput{TopicArn: aws.String(in.Attributes["DisplayName"])}, nil
	})
	wire.Handle(svc, "GetTopicAttributes", nil, nil, func(*wire.Request, *sns.GetTopicAttributesInput) (*sns.GetTopicAttributesOutput, error) {
		return &sns.GetTopicAttributesOutput{Attributes: map[string]string{"a": nasty, "b": ""}}, nil
	})
	cfg, _ := serve(t, wire.Options{}, svc)
	c := sns.NewFromConfig(cfg)
	in := &sns.PublishInput{TopicArn: aws.String("arn"), Message: aws.String(nasty), MessageAttributes: map[string]snstypes.MessageAttributeValue{
		"one": {DataType: aws.String("Binary"), BinaryValue: []byte{0, 1, 255}}, "two": {DataType: aws.String("String"), StringValue: aws.String("v")}}}
	must[*sns.PublishOutput](t)(c.Publish(ctx, in))
	if diff := cmp.Diff(in, published, ignoreSDK()); diff != "" {
		t.Errorf("input (-sent +received):\n%s", diff)
	}
	o := must[*sns.CreateTopicOutput](t)(c.CreateTopic(ctx, &sns.CreateTopicInput{Name: aws.String("n"), Attributes: map[string]string{"DisplayName": nasty}}))
	if *o.TopicArn != nasty {
		t.Errorf("attribute arrived as %q", *o.TopicArn)
	}
	a := must[*sns.GetTopicAttributesOutput](t)(c.GetTopicAttributes(ctx, &sns.GetTopicAttributesInput{TopicArn: aws.String("arn")}))
	if diff := cmp.Diff(map[string]string{"a": nasty, "b": ""}, a.Attributes); diff != "" {
		t.Errorf("attributes:\n%s", diff)
	}
}

func TestEC2(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	instances := []ec2types.Instance{{
		InstanceId: aws.String("i-1"), State: &ec2types.InstanceState{Name: "running", Code: aws.Int32(16)}, LaunchTime: &at, PrivateIpAddress: aws.String("10.0.0.1"),
		PrivateDnsName: aws.String(""), SourceDestCheck: aws.Bool(false), Placement: &ec2types.Placement{AvailabilityZone: aws.String("eu-central-1a")},
		Tags:           []ec2types.Tag{{Key: aws.String("<Name>"), Value: aws.String(nasty)}},
		SecurityGroups: []ec2types.GroupIdentifier{{GroupId: aws.String("sg-1"), GroupName: aws.String("g")}},
		NetworkInterfaces: []ec2types.InstanceNetworkInterface{{NetworkInterfaceId: aws.String("eni-1"), PrivateIpAddresses: []ec2types.InstancePrivateIpAddress{{PrivateIpAddress: aws.String("10.0.0.1"), Primary: aws.Bool(true)}},
			Groups: []ec2types.GroupIdentifier{{GroupId: aws.String("sg-1")}}}},
		BlockDeviceMappings: []ec2types.InstanceBlockDeviceMapping{{DeviceName: aws.String("/dev/sda1"), Ebs: &ec2types.EbsInstanceBlockDevice{VolumeId: aws.String("vol-1")}}},
		IamInstanceProfile:  &ec2types.IamInstanceProfile{Arn: aws.String("arn")},
	}}
	tables := []ec2types.RouteTable{{RouteTableId: aws.String("rtb-1"), VpcId: aws.String("vpc-1"), Associations: []ec2types.RouteTableAssociation{{Main: aws.Bool(true), SubnetId: aws.String("subnet-1")}},
		Routes: []ec2types.Route{{DestinationCidrBlock: aws.String("192.0.2.1/32"), NetworkInterfaceId: aws.String("eni-1"), State: "active", Origin: "CreateRoute"}}}}
	svc := ec2Service()
	var described *ec2.DescribeInstancesInput
	var stopped *ec2.StopInstancesInput
	var run *ec2.RunInstancesInput
	var modified *ec2.ModifyInstanceAttributeInput
	wire.Handle(svc, "DescribeInstances", nil, nil, func(_ *wire.Request, in *ec2.DescribeInstancesInput) (*ec2.DescribeInstancesOutput, error) {
		described = in
		return &ec2.DescribeInstancesOutput{Reservations: []ec2types.Reservation{{ReservationId: aws.String("r-1"), Instances: instances}}}, nil
	})
	wire.Handle(svc, "DescribeRouteTables", nil, nil, func(*wire.Request, *ec2.DescribeRouteTablesInput) (*ec2.DescribeRouteTablesOutput, error) {
		return &ec2.DescribeRouteTablesOutput{RouteTables: tables}, nil
	})
	wire.Handle(svc, "StopInstances", nil, nil, func(_ *wire.Request, in *ec2.StopInstancesInput) (*ec2.StopInstancesOutput, error) {
		stopped = in
		return &ec2.StopInstancesOutput{StoppingInstances: []ec2types.InstanceStateChange{{InstanceId: aws.String("i-1"), CurrentState: &ec2types.InstanceState{Name: "stopping", Code: aws.Int32(64)}}}}, nil
	})
	wire.Handle(svc, "RunInstances", nil, nil, func(_ *wire.Request, in *ec2.RunInstancesInput) (*ec2.RunInstancesOutput, error) {
		run = in
		return &ec2.RunInstancesOutput{Instances: instances}, nil
	})
	wire.Handle(svc, "ModifyInstanceAttribute", nil, nil, func(_ *wire.Request, in *ec2.ModifyInstanceAttributeInput) (*ec2.ModifyInstanceAttributeOutput, error) {
		modified = in
		return nil, nil
	})
	wire.Handle(svc, "TerminateInstances", nil, nil, func(*wire.Request, *ec2.TerminateInstancesInput) (*ec2.TerminateInstancesOutput, error) {
		return nil, wire.Errorf("OperationNotPermitted", "The instance '%s' may not be terminated.", nasty)
	})
	cfg, _ := serve(t, wire.Options{}, svc)
	c := ec2.NewFromConfig(cfg)

	din := &ec2.DescribeInstancesInput{InstanceIds: []string{"i-1", "i-2"}, MaxResults: aws.Int32(50), Filters: []ec2types.Filter{{Name: aws.String("tag:x"), Values: []string{"a", "b"}}, {Name: aws.String("vpc-id"), Values: []string{"v"}}}}
	out := must[*ec2.DescribeInstancesOutput](t)(c.DescribeInstances(ctx, din))
	if diff := cmp.Diff(din, described, ignoreSDK()); diff != "" {
		t.Errorf("DescribeInstances input (-sent +received):\n%s", diff)
	}
	if diff := cmp.Diff(instances, out.Reservations[0].Instances, ignoreSDK(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("instances (-sent +received):\n%s", diff)
	}
	rt := must[*ec2.DescribeRouteTablesOutput](t)(c.DescribeRouteTables(ctx, &ec2.DescribeRouteTablesInput{}))
	if diff := cmp.Diff(tables, rt.RouteTables, ignoreSDK(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("route tables (-sent +received):\n%s", diff)
	}
	sin := &ec2.StopInstancesInput{InstanceIds: []string{"i-1"}, Force: aws.Bool(true), SkipOsShutdown: aws.Bool(true)}
	so := must[*ec2.StopInstancesOutput](t)(c.StopInstances(ctx, sin))
	if diff := cmp.Diff(sin, stopped, ignoreSDK()); diff != "" || so.StoppingInstances[0].CurrentState.Name != "stopping" {
		t.Errorf("StopInstances: %+v\n%s", so, diff)
	}
	rin := &ec2.RunInstancesInput{ImageId: aws.String("ami-1"), MinCount: aws.Int32(1), MaxCount: aws.Int32(1), ClientToken: aws.String("t"), SecurityGroupIds: []string{"sg-1"}, UserData: aws.String("IyE="),
		TagSpecifications:   []ec2types.TagSpecification{{ResourceType: "instance", Tags: []ec2types.Tag{{Key: aws.String("k"), Value: aws.String(nasty)}}}},
		NetworkInterfaces:   []ec2types.InstanceNetworkInterfaceSpecification{{DeviceIndex: aws.Int32(0), Groups: []string{"sg-1", "sg-2"}, SubnetId: aws.String("subnet-1")}},
		BlockDeviceMappings: []ec2types.BlockDeviceMapping{{DeviceName: aws.String("/dev/sda1"), Ebs: &ec2types.EbsBlockDevice{VolumeSize: aws.Int32(8)}}},
		IamInstanceProfile:  &ec2types.IamInstanceProfileSpecification{Name: aws.String("p")}}
	must[*ec2.RunInstancesOutput](t)(c.RunInstances(ctx, rin))
	if diff := cmp.Diff(rin, run, ignoreSDK()); diff != "" {
		t.Errorf("RunInstances input (-sent +received):\n%s", diff)
	}
	min := &ec2.ModifyInstanceAttributeInput{InstanceId: aws.String("i-1"), Groups: []string{"sg-9"}, DisableApiStop: &ec2types.AttributeBooleanValue{Value: aws.Bool(true)}, SourceDestCheck: &ec2types.AttributeBooleanValue{Value: aws.Bool(false)}}
	must[*ec2.ModifyInstanceAttributeOutput](t)(c.ModifyInstanceAttribute(ctx, min))
	if diff := cmp.Diff(min, modified, ignoreSDK()); diff != "" {
		t.Errorf("ModifyInstanceAttribute input (-sent +received):\n%s", diff)
	}
	_, err := c.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{"i-1"}})
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != "OperationNotPermitted" || api.ErrorMessage() != "The instance '"+nasty+"' may not be terminated." {
		t.Errorf("TerminateInstances = %v", err)
	}
	_, err = c.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{})
	wantCode(t, err, "UnknownOperationException")
}
