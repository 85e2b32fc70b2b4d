package provider

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"pgregory.net/rapid"
)

func TestSplitTags(t *testing.T) {
	c := &clients{defaultTags: map[string]string{"team": "db", "stage": "prod"}}
	tests := map[string]struct {
		remote, before, own map[string]string
	}{
		"defaults are not the resource's own": {map[string]string{"team": "db", "app": "x"}, nil, map[string]string{"app": "x"}},
		"unless it declares them":             {map[string]string{"team": "db"}, map[string]string{"team": "db"}, map[string]string{"team": "db"}},
		"a changed default is a difference":   {map[string]string{"team": "web"}, nil, map[string]string{"team": "web"}},
		"tags of AWS are nobody's":            {map[string]string{"aws:cloudformation:stack-name": "s"}, nil, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var diags diag.Diagnostics
			own, _ := c.splitTags(t.Context(), tt.remote, tfMap(tt.before), &diags)
			if !own.Equal(tfMap(tt.own)) || diags.HasError() {
				t.Errorf("own tags %s, want %s (%v)", own, tfMap(tt.own), diags)
			}
		})
	}
}

// What is sent is what brings the one set of tags to the other.
func TestTagChanges(t *testing.T) {
	tags := rapid.MapOf(rapid.SampledFrom([]string{"a", "b", "c", "d"}), rapid.SampledFrom([]string{"1", "2"}))
	rapid.Check(t, func(t *rapid.T) {
		have, want := tags.Draw(t, "have"), tags.Draw(t, "want")
		set, remove := tagChanges(have, want)
		got := maps.Clone(have)
		for _, k := range remove {
			if _, ok := got[k]; !ok {
				t.Fatalf("removes %q, which is not there", k)
			}
			delete(got, k)
		}
		maps.Copy(got, set)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
	})
}

func TestWholly(t *testing.T) {
	unknownValue := types.MapValueMust(types.StringType, map[string]attr.Value{"a": types.StringUnknown()})
	for name, tt := range map[string]struct {
		m    types.Map
		want bool
	}{
		"null": {types.MapNull(types.StringType), true}, "known": {tfMap(map[string]string{"a": "b"}), true},
		"unknown": {types.MapUnknown(types.StringType), false}, "one unknown value": {unknownValue, false},
	} {
		if got := wholly(tt.m); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
