package route53

import (
	"testing"

	"go.uber.org/goleak"
)

// Health checkers and name servers end with the test that started them.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
