package dynamodb

import (
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// recovery is point-in-time recovery, off while days is 0.
type recovery struct {
	days  int32
	since time.Time
}

// DescribeContinuousBackups reports point-in-time recovery.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeContinuousBackups.html
func (d *DynamoDB) DescribeContinuousBackups(req *wire.Request, in *dynamodb.DescribeContinuousBackupsInput) (*dynamodb.DescribeContinuousBackupsOutput, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, err := d.backedUp(req, in.TableName)
	if err != nil {
		return nil, err
	}
	return &dynamodb.DescribeContinuousBackupsOutput{ContinuousBackupsDescription: r.recovery.describe(d.now())}, nil
}

// UpdateContinuousBackups turns point-in-time recovery on or off.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateContinuousBackups.html
func (d *DynamoDB) UpdateContinuousBackups(req *wire.Request, in *dynamodb.UpdateContinuousBackupsInput) (*dynamodb.UpdateContinuousBackupsOutput, error) {
	s := in.PointInTimeRecoverySpecification
	if s == nil || s.PointInTimeRecoveryEnabled == nil {
		return nil, invalid("1 validation error detected: Value null at 'pointInTimeRecoverySpecification.pointInTimeRecoveryEnabled' failed to satisfy constraint: Member must not be null")
	}
	days := aws.ToInt32(s.RecoveryPeriodInDays)
	if s.RecoveryPeriodInDays == nil {
		days = 35
	}
	if days < 1 || days > 35 {
		return nil, invalid("One or more parameter values were invalid: RecoveryPeriodInDays must be between 1 and 35, got %d", days)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	r, err := d.backedUp(req, in.TableName)
	if err != nil {
		return nil, err
	}
	switch {
	case !*s.PointInTimeRecoveryEnabled:
		r.recovery = recovery{}
	case r.recovery.days == 0:
		r.recovery = recovery{days: days, since: d.now()}
	default:
		r.recovery.days = days
	}
	return &dynamodb.UpdateContinuousBackupsOutput{ContinuousBackupsDescription: r.recovery.describe(d.now())}, nil
}

// backedUp finds a table for the operations on continuous backups, which have
// an error of their own for a missing one.
func (d *DynamoDB) backedUp(req *wire.Request, name *string) (*replica, error) {
	r, err := d.described(req, name)
	var e *wire.Error
	if errors.As(err, &e) && e.Code == "ResourceNotFoundException" {
		return nil, wire.Errorf("TableNotFoundException", "Table not found: %s", aws.ToString(name))
	}
	if err == nil && r.status(d.now()) == types.TableStatusCreating {
		return nil, wire.Errorf("ContinuousBackupsUnavailableException", "Backups are being enabled for the table: %s. Please retry later", r.table.name)
	}
	return r, err
}

func (p recovery) describe(now time.Time) *types.ContinuousBackupsDescription {
	status := &types.PointInTimeRecoveryDescription{PointInTimeRecoveryStatus: types.PointInTimeRecoveryStatusDisabled}
	if p.days > 0 {
		// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PointInTimeRecoveryDescription.html
		earliest := now.Add(-time.Duration(p.days) * 24 * time.Hour)
		if earliest.Before(p.since) {
			earliest = p.since
		}
		latest := now.Add(-5 * time.Minute)
		if latest.Before(earliest) {
			latest = earliest
		}
		status = &types.PointInTimeRecoveryDescription{
			PointInTimeRecoveryStatus:  types.PointInTimeRecoveryStatusEnabled,
			RecoveryPeriodInDays:       &p.days,
			EarliestRestorableDateTime: &earliest,
			LatestRestorableDateTime:   &latest,
		}
	}
	return &types.ContinuousBackupsDescription{ContinuousBackupsStatus: types.ContinuousBackupsStatusEnabled, PointInTimeRecoveryDescription: status}
}

// timeToLive is the setting alone: AWS removes expired items within days, so
// the sandbox keeps them, and a program that counts on their removal fails.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html
type timeToLive struct{ attribute string }

// DescribeTimeToLive reports the attribute by which items expire.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeTimeToLive.html
func (d *DynamoDB) DescribeTimeToLive(req *wire.Request, in *dynamodb.DescribeTimeToLiveInput) (*dynamodb.DescribeTimeToLiveOutput, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, err := d.described(req, in.TableName)
	if err != nil {
		return nil, err
	}
	desc := &types.TimeToLiveDescription{TimeToLiveStatus: types.TimeToLiveStatusDisabled}
	if r.ttl.attribute != "" {
		desc = &types.TimeToLiveDescription{TimeToLiveStatus: types.TimeToLiveStatusEnabled, AttributeName: aws.String(r.ttl.attribute)}
	}
	return &dynamodb.DescribeTimeToLiveOutput{TimeToLiveDescription: desc}, nil
}

// UpdateTimeToLive turns time to live on or off.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateTimeToLive.html
func (d *DynamoDB) UpdateTimeToLive(req *wire.Request, in *dynamodb.UpdateTimeToLiveInput) (*dynamodb.UpdateTimeToLiveOutput, error) {
	s := in.TimeToLiveSpecification
	if s == nil || s.Enabled == nil || aws.ToString(s.AttributeName) == "" {
		return nil, invalid("TimeToLiveSpecification must have Enabled and a non-empty AttributeName")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	r, err := d.described(req, in.TableName)
	if err != nil {
		return nil, err
	}
	if err := r.idle(d.now()); err != nil {
		return nil, err
	}
	if r.global != nil && r.global.strong {
		return nil, invalid("Time to Live is not supported on the multi-Region strongly consistent global table %s", r.table.name)
	}
	on := r.ttl.attribute != ""
	switch {
	case on && *s.Enabled:
		return nil, invalid("TimeToLive is already enabled")
	case !on && !*s.Enabled:
		return nil, invalid("TimeToLive is already disabled")
	case on && r.ttl.attribute != *s.AttributeName:
		return nil, invalid("TimeToLive is active on a different AttributeName: current AttributeName is %s", r.ttl.attribute)
	}
	r.ttl.attribute = ""
	if *s.Enabled {
		r.ttl.attribute = *s.AttributeName
	}
	for _, o := range r.others() { // Time to Live is a setting of all replicas
		o.ttl = r.ttl
	}
	return &dynamodb.UpdateTimeToLiveOutput{TimeToLiveSpecification: s}, nil
}
