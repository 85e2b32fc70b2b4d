package statetable

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// anyValue draws a value of any type of the core: whatever field it gains is
// tried here, too.
func anyValue(t *rapid.T, typ reflect.Type, label string) reflect.Value {
	v := reflect.New(typ).Elem()
	switch typ {
	case timeType:
		if rapid.Bool().Draw(t, label+"?") {
			ns := rapid.Int64Range(1, 4_000_000_000_000_000_000).Draw(t, label)
			v.Set(reflect.ValueOf(time.Unix(0, ns).UTC()))
		}
		return v
	}
	switch typ.Kind() {
	case reflect.String:
		v.SetString(rapid.StringMatching(`[ -~äß"]{0,8}`).Draw(t, label))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, label))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, label))
	case reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, label))
	case reflect.Pointer:
		if rapid.Bool().Draw(t, label+"?") {
			v.Set(reflect.New(typ.Elem()))
			v.Elem().Set(anyValue(t, typ.Elem(), label))
		}
	case reflect.Struct:
		for i := range typ.NumField() {
			v.Field(i).Set(anyValue(t, typ.Field(i).Type, typ.Field(i).Name))
		}
	case reflect.Slice:
		for range rapid.IntRange(0, 2).Draw(t, label) {
			v.Set(reflect.Append(v, anyValue(t, typ.Elem(), label)))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(typ))
		for range rapid.IntRange(0, 2).Draw(t, label) {
			v.SetMapIndex(anyValue(t, typ.Key(), label+" key"), anyValue(t, typ.Elem(), label))
		}
	default:
		t.Fatalf("type %s of the core has no form on the record", typ)
	}
	return v
}

// Everything of a state comes back, but the attempt, the engine's words and what
// is left out for the model checker: these live in memory.
func TestStateRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := anyValue(rt, reflect.TypeFor[failover.State](), "state").Interface().(failover.State)
		s.Group, s.Attempt, s.Off, s.Manual, s.Version = group, nil, 0, failover.Manual{}, 1
		s.Maintenance.Until = s.Maintenance.Until.Truncate(time.Second)
		if s.Maintenance.Until.Unix() <= 0 {
			s.Maintenance.Until = time.Time{}
		}
		tab := New(newFake(), "hadr", clock.System())
		if err := tab.PutConfig(t.Context(), group, s.Config); err != nil {
			rt.Fatal(err)
		}
		if err := tab.CreateState(t.Context(), group, s); err != nil {
			rt.Fatal(err)
		}
		got, err := tab.Load(t.Context(), group)
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(s, got, cmpopts.EquateEmpty()); diff != "" {
			rt.Fatalf("created state (-want +got):\n%s", diff)
		}

		next := anyValue(rt, reflect.TypeFor[failover.State](), "next").Interface().(failover.State)
		next.Group, next.Attempt, next.Off, next.Manual, next.Version = group, nil, 0, failover.Manual{}, 2
		next.Config, next.Maintenance = s.Config, s.Maintenance
		if err := tab.Save(t.Context(), s, next); err != nil {
			rt.Fatal(err)
		}
		if got, err = tab.Load(t.Context(), group); err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(next, got, cmpopts.EquateEmpty()); diff != "" {
			rt.Fatalf("saved state (-want +got):\n%s", diff)
		}
	})
}

func TestObservationAndEntryRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := anyValue(rt, reflect.TypeFor[failover.Observation](), "o").Interface().(failover.Observation)
		e := anyValue(rt, reflect.TypeFor[failover.Entry](), "e").Interface().(failover.Entry)
		for _, want := range []any{o, e} {
			m, err := encode(want)
			if err != nil {
				rt.Fatal(err)
			}
			got := reflect.New(reflect.TypeOf(want))
			if err := decode(m, got.Interface()); err != nil {
				rt.Fatal(err)
			}
			if diff := cmp.Diff(want, got.Elem().Interface(), cmpopts.EquateEmpty()); diff != "" {
				rt.Fatalf("(-want +got):\n%s", diff)
			}
		}
	})
}

// The form that people see.
func TestEncodeReadsWell(t *testing.T) {
	m, err := encode(failover.Config{
		Engine: "db2", VIP: "10.9.8.7", Port: 50000, GatherTimeout: 3 * time.Second, EvidenceWait: 1500 * time.Millisecond,
		Nodes: []failover.NodeConfig{{ID: "a", ENI: "eni-1"}}, Settings: map[string]string{"database": "ORDERS"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := item{
		"engine": str("db2"), "vip": str("10.9.8.7"), "port": number(50000),
		"gather_timeout_seconds": &types.AttributeValueMemberN{Value: "3"},
		"evidence_wait_seconds":  &types.AttributeValueMemberN{Value: "1.5"},
		"nodes": &types.AttributeValueMemberL{Value: []types.AttributeValue{
			&types.AttributeValueMemberM{Value: item{"id": str("a"), "eni": str("eni-1")}},
		}},
		"settings": &types.AttributeValueMemberM{Value: item{"database": str("ORDERS")}},
	}
	unexported := cmpopts.IgnoreUnexported(types.AttributeValueMemberS{}, types.AttributeValueMemberN{}, types.AttributeValueMemberL{}, types.AttributeValueMemberM{})
	if diff := cmp.Diff(want, m, unexported); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
}

func TestSnake(t *testing.T) {
	for in, want := range map[string]string{
		"ID": "id", "CommandID": "command_id", "VIP": "vip", "DeadManUntil": "dead_man_until",
		"ClockOffsetAt": "clock_offset_at", "ENI": "eni", "FitnessWhy": "fitness_why",
	} {
		if got := snake(in); got != want {
			t.Errorf("snake(%s) = %s, want %s", in, got, want)
		}
	}
}

// What a human hand gets wrong is named with its place and the way out.
func TestLoadNamesWhatIsTypedWrong(t *testing.T) {
	tests := []struct {
		name      string
		edit      func(f *fake)
		attribute string
		want      string
	}{
		{"maintenance as a string", state("maintenance", str("true")), "maintenance", "BOOL"},
		{"end of maintenance as a date", state("maintenance_until", str("2026-03-02")), "maintenance_until", "whole number (N)"},
		{"epoch as a string", state("epoch", str("8")), "epoch", "(N)"},
		{"epoch negative", state("epoch", number(-1)), "epoch", "not negative"},
		{"epoch broken", state("epoch", &types.AttributeValueMemberN{Value: "7.5"}), "epoch", "whole number"},
		{"primary as a number", state("primary", number(1)), "primary", "string (S)"},
		{"phase as a list", state("phase", &types.AttributeValueMemberL{}), "phase", "string (S)"},
		{"cool-down without a zone", state("cooldown_until", str("2026-03-02 10:00")), "cooldown_until", "2006-01-02T15:04:05Z"},
		{"operation as text", state("operation", str("{}")), "operation", "map (M)"},
		{"time-out as text", conf("gather_timeout_seconds", str("3s")), "gather_timeout_seconds", "seconds"},
		{"node's zone as a number", conf("nodes", &types.AttributeValueMemberL{Value: []types.AttributeValue{
			&types.AttributeValueMemberM{Value: item{"zone": number(1)}},
		}}), "nodes[0].zone", "string (S)"},
		{"routes as a set", conf("routes", &types.AttributeValueMemberSS{Value: []string{"rtb-1"}}), "routes", "list (L)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tab, f, _ := steady(t)
			tt.edit(f)
			_, err := tab.Load(t.Context(), group)
			var wrong *AttributeError
			if !errors.As(err, &wrong) || wrong.Attribute != tt.attribute || !strings.Contains(wrong.Want, tt.want) {
				t.Fatalf("error %v, want one about %s that asks for %q", err, tt.attribute, tt.want)
			}
			if !strings.Contains(err.Error(), "GROUP#orders/") || !strings.Contains(err.Error(), "console") {
				t.Errorf("error does not name item and fix: %v", err)
			}
		})
	}
}

func state(name string, av types.AttributeValue) func(*fake) {
	return func(f *fake) { f.items["GROUP#orders/STATE"][name] = av }
}

func conf(name string, av types.AttributeValue) func(*fake) {
	return func(f *fake) { f.items["GROUP#orders/CONFIG"][name] = av }
}

// Values in other spellings of the same number are understood.
func TestNumbersOfDynamoDB(t *testing.T) {
	for in, want := range map[string]uint64{"7": 7, "7.0": 7, "7E0": 7, "7e1": 70, "18446744073709551615": 18446744073709551615} {
		n, ok := parseWhole(in)
		if !ok || n.Uint64() != want {
			t.Errorf("parseWhole(%q) = %v, %v", in, n, ok)
		}
	}
	for _, bad := range []string{"", "x", "1/2", "0.5", "1e999999999", "0x10"} {
		if n, ok := parseWhole(bad); ok {
			t.Errorf("parseWhole(%q) = %v", bad, n)
		}
	}
}
