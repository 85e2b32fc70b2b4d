package route53

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// normalize returns a name as Route 53 keeps it: in small letters, with a final
// dot, and everything but letters, digits, hyphen and underscore as an octal
// escape.
// https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/DomainNameFormat.html
func normalize(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case c >= 'A' && c <= 'Z':
			b.WriteByte(c + 'a' - 'A')
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_', c == '.':
			b.WriteByte(c)
		case c == '\\' && octal(name[i+1:]):
			b.WriteString(name[i : i+4])
			i += 3
		default:
			fmt.Fprintf(&b, "\\%03o", c)
		}
	}
	if !strings.HasSuffix(b.String(), ".") {
		b.WriteByte('.')
	}
	return b.String()
}

// octal reports whether s begins with three octal digits.
func octal(s string) bool {
	if len(s) < 3 {
		return false
	}
	for _, c := range []byte(s[:3]) {
		if c < '0' || c > '7' {
			return false
		}
	}
	return true
}

// checkName says what is wrong with a normalized name; nil if nothing is.
func checkName(name string) error {
	if len(name) > 256 { // 255 and the final dot
		return fmt.Errorf("Domain name %.40s... is too long", name)
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(name, "."), ".") {
		switch {
		case label == "":
			return fmt.Errorf("Domain label is empty in %s", name)
		case len(label)-3*strings.Count(label, `\`) > 63:
			return fmt.Errorf("Domain label is too long in %s", name)
		}
	}
	return nil
}

// within reports whether name is zone or below it.
func within(name, zone string) bool {
	return name == zone || strings.HasSuffix(name, "."+zone)
}

// compareNames orders names by their labels from the right.
// https://docs.aws.amazon.com/Route53/latest/APIReference/API_ListResourceRecordSets.html
func compareNames(a, b string) int { return slices.Compare(reversed(a), reversed(b)) }

func reversed(name string) []string {
	labels := strings.Split(strings.TrimSuffix(name, "."), ".")
	slices.Reverse(labels)
	return labels
}

// key tells one record set of a zone from the others.
type key struct{ name, kind, set string }

func (k key) compare(o key) int {
	return cmp.Or(compareNames(k.name, o.name), cmp.Compare(k.kind, o.kind), cmp.Compare(k.set, o.set))
}
