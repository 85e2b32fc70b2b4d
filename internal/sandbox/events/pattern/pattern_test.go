package pattern

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const event = `{
	"version": "0", "id": "1", "detail-type": "CloudWatch Alarm State Change", "source": "aws.cloudwatch", "account": "123456789012",
	"time": "2026-11-29T03:00:00Z", "region": "eu-west-1", "resources": ["arn:aws:cloudwatch:eu-west-1:123456789012:alarm:db-hang", "arn:other"],
	"detail": {
		"alarmName": "db-hang", "state": {"value": "ALARM"}, "count": 5, "ratio": 0.25, "big": 3.0e2, "ok": true, "none": null, "empty": [], "path": "C:\\db\\log.txt", "ip": "10.20.1.17", "ip6": "2001:db8::7",
		"list": [1, "two", null], "hosts": [{"name": "a", "up": true}, {"name": "b", "up": false}], "stars": "a*b", "$or": "field", "wrapped": {"inner": {}}
	}
}`

func TestMatch(t *testing.T) {
	for _, tc := range []struct {
		name, pattern string
		want          bool
	}{
		{"a value", `{"source":["aws.cloudwatch"]}`, true},
		{"one of two values", `{"source":["aws.ec2","aws.cloudwatch"]}`, true},
		{"another value", `{"source":["aws.ec2"]}`, false},
		{"case counts", `{"source":["AWS.cloudwatch"]}`, false},
		{"all fields", `{"source":["aws.cloudwatch"],"region":["eu-west-1"]}`, true},
		{"one field of two", `{"source":["aws.cloudwatch"],"region":["us-east-1"]}`, false},
		{"nested", `{"detail":{"state":{"value":["ALARM"]}}}`, true},
		{"an element of an array", `{"resources":["arn:other"]}`, true},
		{"a number", `{"detail":{"count":[5]}}`, true},
		{"the same number in other digits", `{"detail":{"big":[300]}}`, false},
		{"a number in its digits", `{"detail":{"big":[3.0e2]}}`, true},
		{"a number is no text", `{"detail":{"count":["5"]}}`, false},
		{"true", `{"detail":{"ok":[true]}}`, true},
		{"false", `{"detail":{"ok":[false]}}`, false},
		{"null", `{"detail":{"none":[null]}}`, true},
		{"null is not nothing", `{"detail":{"missing":[null]}}`, false},
		{"a structure where a value is wanted", `{"detail":{"state":["ALARM"]}}`, false},
		{"a value where a structure is wanted", `{"source":{"x":["aws.cloudwatch"]}}`, false},

		{"prefix", `{"region":[{"prefix":"eu-"}]}`, true},
		{"another prefix", `{"region":[{"prefix":"us-"}]}`, false},
		{"prefix of any case", `{"region":[{"prefix":{"equals-ignore-case":"EU-"}}]}`, true},
		{"prefix of a number", `{"detail":{"count":[{"prefix":"5"}]}}`, false},
		{"suffix", `{"region":[{"suffix":"-1"}]}`, true},
		{"another suffix", `{"region":[{"suffix":"-2"}]}`, false},
		{"suffix of any case", `{"detail":{"path":[{"suffix":{"equals-ignore-case":".TXT"}}]}}`, true},
		{"equals-ignore-case", `{"detail":{"state":{"value":[{"equals-ignore-case":"alarm"}]}}}`, true},
		{"not equal in any case", `{"detail":{"state":{"value":[{"equals-ignore-case":"alarms"}]}}}`, false},

		{"anything-but another", `{"detail":{"state":{"value":[{"anything-but":"OK"}]}}}`, true},
		{"anything-but itself", `{"detail":{"state":{"value":[{"anything-but":"ALARM"}]}}}`, false},
		{"anything-but a list", `{"detail":{"state":{"value":[{"anything-but":["OK","INSUFFICIENT_DATA"]}]}}}`, true},
		{"anything-but a list with it", `{"detail":{"state":{"value":[{"anything-but":["OK","ALARM"]}]}}}`, false},
		{"anything-but a number", `{"detail":{"count":[{"anything-but":[4,6]}]}}`, true},
		{"anything-but that number", `{"detail":{"count":[{"anything-but":5}]}}`, false},
		{"anything-but a prefix", `{"region":[{"anything-but":{"prefix":"us-"}}]}`, true},
		{"anything-but its prefix", `{"region":[{"anything-but":{"prefix":["us-","eu-"]}}]}`, false},
		{"anything-but its suffix", `{"region":[{"anything-but":{"suffix":"-1"}}]}`, false},
		{"anything-but in any case", `{"detail":{"alarmName":[{"anything-but":{"equals-ignore-case":["DB-HANG"]}}]}}`, false},
		{"anything-but a wildcard", `{"detail":{"alarmName":[{"anything-but":{"wildcard":"db*"}}]}}`, false},
		{"anything-but another wildcard", `{"detail":{"alarmName":[{"anything-but":{"wildcard":["web*","*.x"]}}]}}`, true},
		{"anything-but needs a value", `{"detail":{"missing":[{"anything-but":"OK"}]}}`, false},

		{"numeric range", `{"detail":{"count":[{"numeric":[">",0,"<=",5]}]}}`, true},
		{"numeric range, upper bound excluded", `{"detail":{"count":[{"numeric":[">",0,"<",5]}]}}`, false},
		{"numeric bound", `{"detail":{"ratio":[{"numeric":[">=",0.25]}]}}`, true},
		{"numeric equality is of values", `{"detail":{"big":[{"numeric":["=",300]}]}}`, true},
		{"numeric of a text", `{"account":[{"numeric":[">",0]}]}`, false},
		{"numeric of an element", `{"detail":{"list":[{"numeric":["<",2]}]}}`, true},

		{"exists", `{"detail":{"none":[{"exists":true}]}}`, true},
		{"exists not", `{"detail":{"missing":[{"exists":true}]}}`, false},
		{"exists is about leaves", `{"detail":{"state":[{"exists":true}]}}`, false},
		{"absent", `{"detail":{"missing":[{"exists":false}]}}`, true},
		{"absent with its parents", `{"other":{"a":{"b":[{"exists":false}]}}}`, true},
		{"not absent", `{"detail":{"count":[{"exists":false}]}}`, false},
		{"an empty array has no value", `{"detail":{"empty":[{"exists":false}]}}`, true},
		{"absent from all elements", `{"detail":{"hosts":{"down":[{"exists":false}]}}}`, true},
		{"absent or a value", `{"detail":{"missing":[{"exists":false},"x"]}}`, true},

		{"cidr", `{"detail":{"ip":[{"cidr":"10.20.0.0/16"}]}}`, true},
		{"another cidr", `{"detail":{"ip":[{"cidr":"10.21.0.0/16"}]}}`, false},
		{"cidr of IPv6", `{"detail":{"ip6":[{"cidr":"2001:db8::/32"}]}}`, true},
		{"cidr of a name", `{"region":[{"cidr":"10.20.0.0/16"}]}`, false},

		{"wildcard", `{"resources":[{"wildcard":"arn:aws:cloudwatch:*:alarm:db-*"}]}`, true},
		{"wildcard without *", `{"source":[{"wildcard":"aws.cloudwatch"}]}`, true},
		{"wildcard in full", `{"source":[{"wildcard":"*watch"}]}`, true},
		{"wildcard, not in part", `{"source":[{"wildcard":"*cloud"}]}`, false},
		{"wildcard with an asterisk", `{"detail":{"stars":[{"wildcard":"a\\*b"}]}}`, true},
		{"wildcard with backslashes", `{"detail":{"path":[{"wildcard":"C:\\\\*.txt"}]}}`, true},

		{"elements match one by one", `{"detail":{"hosts":{"name":["a"],"up":[true]}}}`, true},
		{"not across elements", `{"detail":{"hosts":{"name":["a"],"up":[false]}}}`, false},

		{"$or, second alternative", `{"$or":[{"source":["x"]},{"region":["eu-west-1"]}]}`, true},
		{"$or, none", `{"$or":[{"source":["x"]},{"region":["x"]}]}`, false},
		{"$or beside a field", `{"account":["x"],"$or":[{"source":["aws.cloudwatch"]},{"region":["x"]}]}`, false},
		{"$or inside", `{"detail":{"$or":[{"count":[{"numeric":[">",9]}]},{"state":{"value":["ALARM"]}}]}}`, true},
		{"$or in $or", `{"$or":[{"source":["x"]},{"$or":[{"region":["x"]},{"account":["123456789012"]}]}]}`, true},
		{"$or as a field", `{"detail":{"$or":["field"]}}`, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := Parse(tc.pattern)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Match([]byte(event)); got != tc.want {
				t.Errorf("%s matches: %t, want %t", tc.pattern, got, tc.want)
			}
		})
	}
}

func TestMalformedPatterns(t *testing.T) {
	for _, text := range []string{
		``, `{"source":`, `[]`, `"x"`, `{}`, `{"source":{}}`, `{"source":[]}`, `{"source":"x"}`, `{"source":null}`, `{"source":[["x"]]}`, `{"source":["x"]} {}`,
		`{"a":[{"is":"x"}]}`, `{"a":[{"prefix":"x","suffix":"y"}]}`, `{"a":[{}]}`, `{"a":[{"prefix":5}]}`, `{"a":[{"prefix":{"suffix":"x"}}]}`, `{"a":[{"equals-ignore-case":["x"]}]}`,
		`{"a":[{"exists":"yes"}]}`, `{"a":[{"anything-but":[]}]}`, `{"a":[{"anything-but":true}]}`, `{"a":[{"anything-but":{"numeric":["=",1]}}]}`, `{"a":[{"anything-but":{}}]}`,
		`{"a":[{"numeric":[]}]}`, `{"a":[{"numeric":["="]}]}`, `{"a":[{"numeric":["!=",1]}]}`, `{"a":[{"numeric":["<","1"]}]}`, `{"a":[{"numeric":["<",6e9]}]}`, `{"a":[{"numeric":["<",1,"<",2]}]}`, `{"a":[{"numeric":5}]}`,
		`{"a":[{"cidr":"10.0.0.1"}]}`, `{"a":[{"wildcard":"a**b"}]}`, `{"a":[{"wildcard":"a\\b"}]}`, `{"a":[{"wildcard":"a\\"}]}`, `{"$or":[{"a":["x"]},{}]}`, `{"$or":[{"a":["x"]}]}`,
	} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
	if (Pattern{}).Match([]byte(`{}`)) {
		t.Error("the zero pattern matches")
	}
	p, err := Parse(`{"a":[{"exists":false}]}`)
	if err != nil || p.Match([]byte(`[]`)) || p.Match([]byte(`{`)) || !p.Match([]byte(`{}`)) {
		t.Errorf("what is no object matches (%v)", err)
	}
}

// TestWildcardsAgreeWithRegularExpressions compares with another matcher.
func TestWildcardsAgreeWithRegularExpressions(t *testing.T) {
	text := rapid.StringMatching(`[ab]{0,8}`)
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.StringMatching(`[ab]{1,3}`), 1, 4).Draw(t, "parts")
		wildcard := strings.Join(parts, "*")
		if rapid.Bool().Draw(t, "open") {
			wildcard = "*" + wildcard + "*"
		}
		f, err := parseWildcard(wildcard)
		if err != nil {
			t.Fatal(err)
		}
		s := text.Draw(t, "text")
		want := regexp.MustCompile("^" + strings.ReplaceAll(wildcard, "*", ".*") + "$").MatchString(s)
		if f(s) != want {
			t.Fatalf("%q matches %q: %t, want %t", wildcard, s, !want, want)
		}
	})
}

// TestAPatternOfAnEventMatchesIt: turn every scalar into a pattern's leaf.
func TestAPatternOfAnEventMatchesIt(t *testing.T) {
	scalar := rapid.OneOf(rapid.StringMatching(`[a-z]{0,3}`).AsAny(), rapid.Int().AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil))
	rapid.Check(t, func(t *rapid.T) {
		e, p := map[string]any{}, map[string]any{}
		for key, v := range rapid.MapOfN(rapid.StringMatching(`[a-z]{1,3}`), rapid.SliceOfN(scalar, 1, 3), 1, 4).Draw(t, "event") {
			e[key], p[key] = v, []any{v[0]}
			if len(v) == 1 {
				e[key] = map[string]any{"inner": v[0]}
				p[key] = map[string]any{"inner": []any{v[0]}}
			}
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		event, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := Parse(string(text))
		if err != nil {
			t.Fatal(err)
		}
		if !parsed.Match(event) {
			t.Fatalf("%s does not match %s", text, event)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"source":["a",{"prefix":"b"}],"detail":{"n":[{"numeric":[">",0,"<=",5]}],"x":[{"exists":false}]}}`,
		`{"$or":[{"a":[{"cidr":"10.0.0.0/8"}]},{"b":[{"anything-but":{"wildcard":["*x","y*"]}}]}]}`,
	} {
		f.Add(s, event)
	}
	f.Fuzz(func(t *testing.T, text, event string) {
		p, err := Parse(text)
		var compact bytes.Buffer
		if err != nil || json.Compact(&compact, []byte(event)) != nil {
			return
		}
		if p.Match([]byte(event)) != p.Match(compact.Bytes()) {
			t.Error("blanks in an event count")
		}
	})
}
