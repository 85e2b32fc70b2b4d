package demo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/db2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/landscape"
	"github.com/hadr-dev/terraform-provider-hadr/internal/statetable"
	"github.com/hadr-dev/terraform-provider-hadr/provider"
)

// The group that is declared without Terraform.
const (
	coreTable = "hadr-core"
	coreGroup = "orders"

	hostPolicy = "hadr-agent" // in the hosts' role
)

// failedAlarm is the name of the alarm of a node that invokes the function.
func failedAlarm(node string) string { return coreGroup + "-" + node + "-failed" }

// coreAlarm is the ARN of that alarm.
func (s *Stage) coreAlarm(node string) string {
	return fmt.Sprintf("arn:aws:cloudwatch:%s:%s:alarm:%s", Region, s.World.Account, failedAlarm(node))
}

// functionARN is the ARN of a function.
func (s *Stage) functionARN(name string) string {
	return fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s", Region, s.World.Account, name)
}

// declare makes by hand what Terraform makes from modules/db2-hadr, less alarms
// and functions.
func (s *Stage) declare(ctx context.Context) (*statetable.Table, error) {
	cfg := s.Config(Region)
	tables := dynamodb.NewFromConfig(cfg)
	arn, err := createTable(ctx, tables)
	if err != nil {
		return nil, err
	}
	settings := map[string]string{
		"database": Database, "instance_owner": Owner, "syncmode": "NEARSYNC", "table_arn": arn,
		"peer_window_seconds": fmt.Sprint(int(PeerWindow / time.Second)), "hadr_timeout_seconds": fmt.Sprint(int(Timeout / time.Second)),
	}
	if err := createDocuments(ctx, ssm.NewFromConfig(cfg), settings); err != nil {
		return nil, err
	}
	if err := s.createRoutes(ctx, ec2.NewFromConfig(cfg), arn); err != nil {
		return nil, err
	}
	isolation, err := ec2.NewFromConfig(cfg).CreateSecurityGroup(ctx, &ec2.CreateSecurityGroupInput{
		VpcId: &s.Landscape.VPC, GroupName: aws.String("isolated"), Description: aws.String("Nothing comes in"),
	})
	if err != nil {
		return nil, err
	}
	s.isolation = *isolation.GroupId
	if err := s.letAgentsWrite(ctx, iam.NewFromConfig(cfg), arn); err != nil {
		return nil, err
	}
	table := statetable.New(tables, coreTable, s.Clock)
	return table, s.declareGroup(ctx, table, settings)
}

func createTable(ctx context.Context, client *dynamodb.Client) (arn string, err error) {
	key := func(name string, kind ddb.KeyType) ddb.KeySchemaElement {
		return ddb.KeySchemaElement{AttributeName: &name, KeyType: kind}
	}
	text := func(name string) ddb.AttributeDefinition {
		return ddb.AttributeDefinition{AttributeName: &name, AttributeType: ddb.ScalarAttributeTypeS}
	}
	name := coreTable
	out, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: ddb.BillingModePayPerRequest,
		KeySchema:            []ddb.KeySchemaElement{key("pk", ddb.KeyTypeHash), key("sk", ddb.KeyTypeRange)},
		AttributeDefinitions: []ddb.AttributeDefinition{text("pk"), text("sk")},
	})
	if err != nil {
		return "", err
	}
	waiter := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 200*time.Millisecond, 200*time.Millisecond
	})
	return *out.TableDescription.TableArn, waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: &name}, time.Minute)
}

// createDocuments makes the SSM documents and names them in settings.
func createDocuments(ctx context.Context, client *ssm.Client, settings map[string]string) error {
	for _, kind := range db2.Kinds() {
		d, err := db2.DocumentOf(kind)
		if err != nil {
			return err
		}
		content, err := d.Content()
		if err != nil {
			return err
		}
		name := coreGroup + "-" + kind
		if _, err := client.CreateDocument(ctx, &ssm.CreateDocumentInput{
			Name: &name, Content: &content, DocumentType: ssmtypes.DocumentTypeCommand, DocumentFormat: ssmtypes.DocumentFormatJson,
		}); err != nil {
			return err
		}
		settings[kind+"_document"] = name
	}
	return nil
}

func (s *Stage) createRoutes(ctx context.Context, client *ec2.Client, tableARN string) error {
	var tagged []string
	for _, h := range s.Landscape.Databases {
		tagged = append(tagged, h.InstanceID, h.NetworkInterfaceID)
	}
	if _, err := client.CreateTags(ctx, &ec2.CreateTagsInput{Resources: tagged, Tags: []ec2types.Tag{
		{Key: aws.String("hadr:table"), Value: &tableARN}, {Key: aws.String("hadr:group"), Value: aws.String(coreGroup)},
	}}); err != nil {
		return err
	}
	for _, table := range s.Landscape.RouteTables {
		if _, err := client.CreateRoute(ctx, &ec2.CreateRouteInput{
			RouteTableId: &table, DestinationCidrBlock: aws.String(VIP + "/32"), NetworkInterfaceId: aws.String(s.Landscape.Databases["a"].NetworkInterfaceID),
		}); err != nil {
			return err
		}
	}
	return nil
}

func (s *Stage) letAgentsWrite(ctx context.Context, client *iam.Client, tableARN string) error {
	policy, err := provider.HostPolicy(ctx, tableARN, s.functionARN(takeoverFunction), coreGroup)
	if err != nil {
		return err
	}
	return s.putPolicy(ctx, client, landscape.Role, hostPolicy, policy)
}

// putPolicy writes an inline policy of a role.
func (s *Stage) putPolicy(ctx context.Context, client *iam.Client, role, name, policy string) (err error) {
	if s.amend != nil {
		if policy, err = s.amend(role, policy); err != nil {
			return err
		}
	}
	_, err = client.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: &role, PolicyName: &name, PolicyDocument: &policy})
	return err
}

func (s *Stage) declareGroup(ctx context.Context, table *statetable.Table, settings map[string]string) error {
	c := failover.Config{
		Engine: "db2", Settings: settings, Preferred: "a", VIP: VIP, Port: Port,
		Routes: s.Landscape.RouteTables, Checkers: map[string]string{}, Policy: failover.Automatic, Fencing: failover.Strict, Isolation: s.isolation,
	}.WithDefaults()
	for n, node := range slices.Sorted(maps.Keys(s.Landscape.Databases)) {
		h := s.Landscape.Databases[node]
		c.Nodes = append(c.Nodes, failover.NodeConfig{ID: node, Instance: h.InstanceID, ENI: h.NetworkInterfaceID, Zone: h.AvailabilityZone, Region: Region})
		c.Checkers[s.Landscape.RouteTables[n]] = s.Landscape.Applications[node].InstanceID
	}
	errs := []error{
		table.PutConfig(ctx, coreGroup, c),
		table.CreateState(ctx, coreGroup, failover.State{Group: coreGroup, Epoch: 1, Primary: "a", Phase: failover.Steady}),
	}
	for _, n := range c.Nodes {
		errs = append(errs,
			table.BindAlarms(ctx, coreGroup, n.ID, []string{s.coreAlarm(n.ID)}),
			table.PutProbe(ctx, statetable.Probe{
				Group: coreGroup, Node: n.ID, Namespace: "HADR", Metric: "SQLLatency",
				Interval: 20 * time.Second, Timeout: 19 * time.Second, Threshold: 20 * time.Second, Sentinel: 20001 * time.Millisecond,
			}))
	}
	return errors.Join(errs...)
}
