package alarm

// Comparison is the ComparisonOperator of an alarm.
type Comparison string

// Comparisons with a static threshold.
const (
	GreaterThan        Comparison = "GreaterThanThreshold"
	GreaterThanOrEqual Comparison = "GreaterThanOrEqualToThreshold"
	LessThan           Comparison = "LessThanThreshold"
	LessThanOrEqual    Comparison = "LessThanOrEqualToThreshold"
)

// Valid reports whether c compares with a static threshold.
func (c Comparison) Valid() bool { return c.words() != "" }

// Breaches reports whether value breaches threshold.
func (c Comparison) Breaches(value, threshold float64) bool {
	switch c {
	case GreaterThan:
		return value > threshold
	case GreaterThanOrEqual:
		return value >= threshold
	case LessThan:
		return value < threshold
	case LessThanOrEqual:
		return value <= threshold
	}
	return false
}

func (c Comparison) words() string {
	switch c {
	case GreaterThan:
		return "greater than"
	case GreaterThanOrEqual:
		return "greater than or equal to"
	case LessThan:
		return "less than"
	case LessThanOrEqual:
		return "less than or equal to"
	}
	return ""
}
