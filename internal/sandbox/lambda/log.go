package lambda

import (
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// tailSize is how much of the log an answer of Invoke holds.
// https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
const tailSize = 4 << 10

// stream is the log stream of one environment.
// https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs.html
type stream struct {
	world *world.World
	key   functionKey
	group string
	name  string
	muted bool // the role may not write it

	mu   sync.Mutex
	tail strings.Builder // of the invocation under way
}

func (l *Lambda) newStream(f *function, v *version) *stream {
	day := l.world.Clock.Now().UTC().Format("2006/01/02")
	s := &stream{world: l.world, key: f.key, group: *v.config.LoggingConfig.LogGroup,
		name: fmt.Sprintf("%s/[%s]%s", day, *v.config.Version, l.world.Hex(32))}
	s.muted = !s.permitted(*v.config.Role, *v.config.FunctionArn)
	return s
}

// policies is an Identity that knows what roles may do.
type policies interface {
	Permit(roleARN, service, sourceARN, action, resource string) error
}

// permitted reports whether the execution role may write the stream: without
// the permission a function runs, and nobody sees its log.
// https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs.html#monitoring-cloudwatchlogs-prereqs
func (s *stream) permitted(role, function string) bool {
	p, ok := s.world.Identity.(policies)
	if !ok {
		return true
	}
	arn := fmt.Sprintf("arn:aws:logs:%s:%s:log-group:%s:log-stream:%s", s.key.region, s.key.account, s.group, s.name)
	for _, action := range []string{"logs:CreateLogStream", "logs:PutLogEvents"} {
		if p.Permit(role, servicePrincipal, function, action, arn) != nil {
			return false
		}
	}
	return true
}

func (s *stream) line(format string, args ...any) { s.print(fmt.Sprintf(format, args...)) }

func (s *stream) print(line string) {
	s.mu.Lock()
	s.tail.WriteString(line + "\n")
	s.mu.Unlock()
	if s.world.Logs != nil && !s.muted {
		s.world.Logs.PutLog(s.key.region, s.key.account, s.group, s.name, s.world.Clock.Now(), line+"\n")
	}
}

// begin forgets the last invocation.
func (s *stream) begin(requestID, version string) {
	s.mu.Lock()
	s.tail.Reset()
	s.mu.Unlock()
	s.line("START RequestId: %s Version: %s", requestID, version)
}

// end writes the last lines of an invocation.
func (s *stream) end(requestID string, took, initialised time.Duration, c *types.FunctionConfiguration, status string) {
	s.line("END RequestId: %s", requestID)
	report := fmt.Sprintf("REPORT RequestId: %s\tDuration: %.2f ms\tBilled Duration: %d ms\tMemory Size: %d MB\tMax Memory Used: %d MB",
		requestID, ms(took), billed(took+initialised), *c.MemorySize, *c.MemorySize)
	if initialised > 0 {
		report += fmt.Sprintf("\tInit Duration: %.2f ms", ms(initialised))
	}
	if status != "" {
		report += "\tStatus: " + status
	}
	s.print(report)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func billed(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }

// result returns the end of the log of the last invocation, as Invoke shows it.
func (s *stream) result() *string {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tail.String()
	return aws.String(base64.StdEncoding.EncodeToString([]byte(t[max(0, len(t)-tailSize):])))
}
