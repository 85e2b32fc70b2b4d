package dynamodb

// PartitionKey returns the name of a table's partition key, for the condition
// dynamodb:LeadingKeys of policies; "" if there is no such table.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
func (d *DynamoDB) PartitionKey(region, account, table string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, ok := d.replicas[place{account: account, region: region}][table]
	if !ok {
		return ""
	}
	return r.table.key.Hash
}
