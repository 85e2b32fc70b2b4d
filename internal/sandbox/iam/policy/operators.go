package policy

import (
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// comparison tells whether a value of the request matches one of the policy.
type comparison struct {
	match   func(want, got string, variables bool, ctx Context) bool
	negated bool
}

// comparisons are the operators but for Null, which looks at existence alone.
//
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html
var comparisons = map[string]comparison{
	"StringEquals":              {match: equalText},
	"StringNotEquals":           {match: equalText, negated: true},
	"StringEqualsIgnoreCase":    {match: equalFold},
	"StringNotEqualsIgnoreCase": {match: equalFold, negated: true},
	"StringLike":                {match: likeText},
	"StringNotLike":             {match: likeText, negated: true},
	"ArnEquals":                 {match: likeARN}, // the same as ArnLike
	"ArnLike":                   {match: likeARN},
	"ArnNotEquals":              {match: likeARN, negated: true},
	"ArnNotLike":                {match: likeARN, negated: true},
	"NumericEquals":             {match: number(func(got, want float64) bool { return got == want })},
	"NumericNotEquals":          {match: number(func(got, want float64) bool { return got == want }), negated: true},
	"NumericLessThan":           {match: number(func(got, want float64) bool { return got < want })},
	"NumericLessThanEquals":     {match: number(func(got, want float64) bool { return got <= want })},
	"NumericGreaterThan":        {match: number(func(got, want float64) bool { return got > want })},
	"NumericGreaterThanEquals":  {match: number(func(got, want float64) bool { return got >= want })},
	"DateEquals":                {match: date(func(order int) bool { return order == 0 })},
	"DateNotEquals":             {match: date(func(order int) bool { return order == 0 }), negated: true},
	"DateLessThan":              {match: date(func(order int) bool { return order < 0 })},
	"DateLessThanEquals":        {match: date(func(order int) bool { return order <= 0 })},
	"DateGreaterThan":           {match: date(func(order int) bool { return order > 0 })},
	"DateGreaterThanEquals":     {match: date(func(order int) bool { return order >= 0 })},
	"Bool":                      {match: equalBool},
	"BinaryEquals":              {match: equalBinary},
	"IpAddress":                 {match: inNetwork},
	"NotIpAddress":              {match: inNetwork, negated: true},
}

func equalText(want, got string, variables bool, ctx Context) bool {
	p, ok := compile(want, variables, false, ctx)
	return ok && string(p) == got
}

func equalFold(want, got string, variables bool, ctx Context) bool {
	p, ok := compile(want, variables, false, ctx)
	return ok && strings.EqualFold(string(p), got)
}

func likeText(want, got string, variables bool, ctx Context) bool {
	p, ok := compile(want, variables, true, ctx)
	return ok && glob(p, []rune(got))
}

func likeARN(want, got string, variables bool, ctx Context) bool {
	return matchResource(want, got, variables, ctx)
}

func equalBool(want, got string, _ bool, _ Context) bool { return strings.EqualFold(want, got) }

func equalBinary(want, got string, _ bool, _ Context) bool { return want == got }

func number(compare func(got, want float64) bool) func(string, string, bool, Context) bool {
	return func(want, got string, _ bool, _ Context) bool {
		w, err1 := strconv.ParseFloat(want, 64)
		g, err2 := strconv.ParseFloat(got, 64)
		return err1 == nil && err2 == nil && compare(g, w)
	}
}

func date(accept func(order int) bool) func(string, string, bool, Context) bool {
	return func(want, got string, _ bool, _ Context) bool {
		w, ok1 := instant(want)
		g, ok2 := instant(got)
		return ok1 && ok2 && accept(g.Compare(w))
	}
}

// instant reads the ISO 8601 profile of the W3C or seconds since the epoch.
func instant(s string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return time.Unix(n, 0), err == nil
}

func inNetwork(want, got string, _ bool, _ Context) bool {
	ip, err := netip.ParseAddr(got)
	if err != nil {
		return false
	}
	if p, err := netip.ParsePrefix(want); err == nil {
		return p.Masked().Contains(ip.Unmap())
	}
	one, err := netip.ParseAddr(want)
	return err == nil && one == ip.Unmap()
}
