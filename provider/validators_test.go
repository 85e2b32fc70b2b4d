package provider

import (
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func TestStringValidators(t *testing.T) {
	tests := map[string]struct {
		v         validator.String
		good, bad []string
	}{
		"group":    {groupName, []string{"orders", "o1", "a-b-c"}, []string{"o", "Orders", "1orders", "orders_1", strings.Repeat("a", 32), ""}},
		"instance": {instanceID, []string{"i-0123456789abcdef0", "i-01234567"}, []string{"i-xyz", "0123456789abcdef0", "i-0123456789ABCDEF0"}},
		"sg":       {securityGroupID, []string{"sg-0123456789abcdef0", "sg-01234567"}, []string{"eni-0123456789abcdef0", "sg-", "default"}},
		"eni":      {eniID, []string{"eni-0123456789abcdef0"}, []string{"i-0123456789abcdef0", "eni-"}},
		"table":    {tableID, []string{"rtb-0123456789abcdef0"}, []string{"rt-0123456789abcdef0"}},
		"address":  {ipv4{}, []string{"192.168.77.10"}, []string{"192.168.77.0/24", "::1", "127.0.0.1", "0.0.0.0", "224.0.0.1", "169.254.1.1", "300.1.1.1", "host"}},
		"url":      {httpURL{}, []string{"http://127.0.0.1:4566", "https://x"}, []string{"127.0.0.1:4566", "ftp://x", "http://"}},
		"json":     {jsonText{}, []string{`{}`}, []string{`{`, ``}},
		"duration": {duration(minSession, maxSession), []string{"15m", "1h30m", "12h"}, []string{"14m", "13h", "1", "soon"}},
		"moment":   {rfc3339{}, []string{"2030-01-02T15:04:05Z", "2030-01-02T15:04:05+02:00"}, []string{"2030-01-02", "tomorrow"}},
		"any ARN":  {arnOf(), []string{"arn:aws:sns:eu-central-1:123456789012:topic"}, []string{"topic", "arn:aws:sns:eu-central-1:123456789012:"}},
		"IAM ARN":  {arnOf("iam"), []string{"arn:aws:iam::123456789012:role/x"}, []string{"arn:aws:sns:eu-central-1:123456789012:topic"}},
		"KMS key": {kmsKey{}, []string{"arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d-0000-4000-8000-000000000001", "arn:aws-cn:kms:cn-north-1:123456789012:key/mrk-0a1b2c3d000040008000000000000001"},
			[]string{"arn:aws:kms:eu-central-1:123456789012:alias/orders", "0a1b2c3d-0000-4000-8000-000000000001", "alias/orders", "arn:aws:iam::123456789012:role/key/x"}},
		"database":  {databaseName, []string{"SAMPLE", "a#1"}, []string{"1A", "TOOLONGNAME"}},
		"Db2 owner": {instanceOwner, []string{"db2inst1", "_db2"}, []string{"enterprisedb", "db2-inst", "1db2", "DB2INST1", ""}},
		"server owner": {serverOwner, []string{"postgres", "enterprisedb", "postgres15", "pg-orders", "_pg", strings.Repeat("p", 32)},
			[]string{"", "Postgres", "15postgres", "-pg", "pg.orders", "pg orders", "pg;id", "pg$", strings.Repeat("p", 33)}},
		"parameter": {parameterName{}, []string{"AmazonCloudWatch-hadr-orders", "/hadr/orders", "a", "as", "s"},
			[]string{"", "/", "hadr/orders", "/hadr/", "aws-x", "/AWS/x", "ssm.x", "a b", strings.Repeat("/a", 16), strings.Repeat("a", 901)}},
		"process": {processPattern{}, []string{"^db2sysc$", "postgres|postmaster"}, []string{"", "(", strings.Repeat("x", 256)}},
		"tag key": {notReservedTag{}, []string{"app", "hadr"}, []string{"aws:x", "hadr:table", "hadr:group"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			check := func(value string, want bool) {
				req := validator.StringRequest{Path: path.Root("x"), ConfigValue: types.StringValue(value)}
				var resp validator.StringResponse
				tt.v.ValidateString(t.Context(), req, &resp)
				if got := !resp.Diagnostics.HasError(); got != want {
					t.Errorf("%q accepted: %v, want %v (%v)", value, got, want, resp.Diagnostics)
				}
			}
			for _, v := range tt.good {
				check(v, true)
			}
			for _, v := range tt.bad {
				check(v, false)
			}
		})
	}
}

func TestValidatorsLeaveUnknownAlone(t *testing.T) {
	for _, v := range []validator.String{parameterName{}, processPattern{}, ipv4{}, httpURL{}, jsonText{}, rfc3339{}, arnOf("iam"), duration(time.Minute, time.Hour)} {
		for _, value := range []types.String{types.StringNull(), types.StringUnknown()} {
			var resp validator.StringResponse
			v.ValidateString(t.Context(), validator.StringRequest{Path: path.Root("x"), ConfigValue: value}, &resp)
			if resp.Diagnostics.HasError() {
				t.Errorf("%T refuses %s: %v", v, value, resp.Diagnostics)
			}
		}
	}
}

func TestStatistics(t *testing.T) {
	for _, s := range []string{"SampleCount", "Maximum", "p99", "p99.9", "p100", "tm95", "IQM", "PR(:300)", "TM(10%:90%)", "WM(:95%)"} {
		if !statisticForm.MatchString(s) {
			t.Errorf("%s is a statistic of CloudWatch, but is refused", s)
		}
	}
	for _, s := range []string{"Median", "p101", "p", "maximum", "PR300"} {
		if statisticForm.MatchString(s) {
			t.Errorf("%s is no statistic of CloudWatch, but is accepted", s)
		}
	}
}
