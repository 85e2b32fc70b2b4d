package provider

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// FunctionScope is what a function may touch.
type FunctionScope = functionScope

// FunctionPolicy returns the policy (JSON) that a function of a kind needs, as
// the attribute `policy` of hadr_function shows it.
func FunctionPolicy(kind string, s FunctionScope) (string, error) {
	k, ok := kinds[kind]
	if !ok {
		return "", fmt.Errorf("no kind %q of function: want one of %s", kind, strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
	}
	return k.policy(s).String(), nil
}

// HostPolicy returns the policy (JSON) that the hosts of groups need, as the
// attribute `policy` of hadr_host_policy shows it. functionARN is that of the
// takeover function, "" without a lease.
func HostPolicy(ctx context.Context, tableARN, functionARN string, groups ...string) (string, error) {
	var diags diag.Diagnostics
	p := hostPolicyModel{TableARN: types.StringValue(tableARN), FunctionARN: types.StringValue(functionARN), Namespace: types.StringValue(defaultNamespace), Groups: tfSet(groups)}.document(ctx, &diags)
	if diags.HasError() {
		return "", fmt.Errorf("making the host policy of table %s: %s", tableARN, diags[0].Detail())
	}
	return p.String(), nil
}

// SchedulePolicy returns the policy (JSON) that a schedule of a function needs,
// as the attribute `policy` of hadr_schedule shows it.
func SchedulePolicy(functionARN string) string { return schedulePolicy(functionARN).String() }
