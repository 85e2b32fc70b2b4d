package value

import (
	"math/big"
	"strconv"
	"strings"
)

// Limits of the Number type: 38 significant digits, magnitudes from 1E-130 to
// 9.99E+125.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
const (
	maxDigits   = 38
	maxExponent = 125
	minExponent = -130
)

// Number is an exact decimal number: digits × 10^exp.
type Number struct {
	negative bool
	digits   string // significant digits without zeros at either end; "" is zero
	exp      int    // power of ten of the last digit
}

// ParseNumber reads a decimal number with an optional exponent and checks that
// it fits the Number type.
func ParseNumber(s string) (Number, error) {
	bad := invalid("The parameter cannot be converted to a numeric value: %s", s)
	if s == "" {
		return Number{}, invalid("The parameter cannot be converted to a numeric value")
	}
	rest, negative := strings.CutPrefix(s, "-")
	if !negative {
		rest = strings.TrimPrefix(rest, "+")
	}
	mantissa, exponent := rest, 0
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		e, err := strconv.Atoi(rest[i+1:])
		if err != nil || e > 1e6 || e < -1e6 {
			return Number{}, bad
		}
		mantissa, exponent = rest[:i], e
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return Number{}, bad
	}
	return normal(negative, digits, exponent-len(fraction))
}

func normal(negative bool, digits string, exp int) (Number, error) {
	digits = strings.TrimLeft(digits, "0")
	short := strings.TrimRight(digits, "0")
	exp += len(digits) - len(short)
	if short == "" {
		return Number{}, nil
	}
	n := Number{negative: negative, digits: short, exp: exp}
	switch lead := n.lead(); {
	case lead > maxExponent:
		return Number{}, invalid("Number overflow. Attempting to store a number with magnitude larger than supported range")
	case lead < minExponent:
		return Number{}, invalid("Number underflow. Attempting to store a number with magnitude smaller than supported range")
	case len(short) > maxDigits:
		return Number{}, invalid("Attempting to store more than 38 significant digits in a Number")
	}
	return n, nil
}

// lead is the power of ten of the first digit.
func (n Number) lead() int { return n.exp + len(n.digits) - 1 }

// String is the canonical form: plain digits without needless zeros, the same
// for every spelling of a number.
func (n Number) String() string {
	if n.digits == "" {
		return "0"
	}
	var s string
	switch point := len(n.digits) + n.exp; {
	case n.exp >= 0:
		s = n.digits + strings.Repeat("0", n.exp)
	case point > 0:
		s = n.digits[:point] + "." + n.digits[point:]
	default:
		s = "0." + strings.Repeat("0", -point) + n.digits
	}
	if n.negative {
		return "-" + s
	}
	return s
}

// Add returns n + m; it fails if the sum needs more than 38 digits.
func (n Number) Add(m Number) (Number, error) {
	exp := min(n.exp, m.exp)
	sum := new(big.Int).Add(n.scaled(exp), m.scaled(exp))
	digits := new(big.Int).Abs(sum).String()
	return normal(sum.Sign() < 0, digits, exp)
}

// Sub returns n - m; it fails if the difference needs more than 38 digits.
func (n Number) Sub(m Number) (Number, error) {
	m.negative = !m.negative
	return n.Add(m)
}

// Cmp compares n and m as numbers.
func (n Number) Cmp(m Number) int {
	exp := min(n.exp, m.exp)
	return n.scaled(exp).Cmp(m.scaled(exp))
}

func (n Number) scaled(exp int) *big.Int {
	i := new(big.Int)
	if n.digits == "" {
		return i
	}
	i.SetString(n.digits, 10)
	i.Mul(i, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n.exp-exp)), nil))
	if n.negative {
		i.Neg(i)
	}
	return i
}

// number parses a value that Normalize has accepted.
func number(s string) Number {
	n, err := ParseNumber(s)
	if err != nil {
		return Number{}
	}
	return n
}
