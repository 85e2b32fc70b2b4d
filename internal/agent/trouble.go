package agent

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/awsclient"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
)

// SetupError keeps the agent from judging the database, and says nothing about
// it: a healthy primary must not be shot because a table is missing, nor look
// healthy because of it. Engines have errors of their own of this kind.
type SetupError interface {
	error
	// Setup says what is wrong, and what a person does about it.
	Setup() (what, fix string)
}

// setupError is the agent's own.
type setupError struct{ what, fix string }

func (e setupError) Error() string { return e.what + ": " + e.fix }

func (e setupError) Setup() (what, fix string) { return e.what, e.fix }

// trouble is something that does not work.
type trouble struct {
	kind  string // what tells it from another trouble in the same area
	text  string // for people, with the way out
	setup bool   // it keeps the agent from its work
}

// troubles are what does not work now, by area.
type troubles struct {
	mu  sync.Mutex
	now map[string]trouble
}

// set notes a trouble and reports whether it is a new one. One cause is told
// once, in however many areas it shows.
func (t *troubles) set(area string, now trouble) (fresh bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.now == nil {
		t.now = map[string]trouble{}
	}
	fresh = true
	for other, before := range t.now {
		if before.kind == now.kind && (other == area || now.kind != unnamed) {
			fresh = false
		}
	}
	t.now[area] = now
	return fresh
}

func (t *troubles) unset(area string) (was bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, was = t.now[area]
	delete(t.now, area)
	return was
}

// text is what keeps the agent from its work, "" if nothing does.
func (t *troubles) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []string
	for _, area := range slices.Sorted(maps.Keys(t.now)) {
		if t.now[area].setup {
			all = append(all, t.now[area].text)
		}
	}
	return strings.Join(slices.Compact(all), "; ")
}

// areas are those in which something does not work now.
func (t *troubles) areas() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.now))
}

// measuring is what keeps the agent from measuring its database.
func (t *troubles) measuring() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, area := range []string{"view", "probe"} {
		if now := t.now[area]; now.setup {
			return now.text
		}
	}
	return ""
}

// unnamed is the kind of all troubles whose cause is not known.
const unnamed = "unnamed"

// settle notes what came of an effort in an area.
func (a *Agent) settle(area string, err error) {
	if err == nil {
		a.clear(area)
		return
	}
	a.raise(area, err)
}

// raise tells of a trouble once, with what a person does about it.
func (a *Agent) raise(area string, err error) {
	now := describe(area, err)
	if !a.troubles.set(area, now) {
		return
	}
	a.Log.Warn(messages[area], "group", a.Group, "node", a.Node, "error", now.text)
}

func (a *Agent) clear(area string) {
	if a.troubles.unset(area) {
		a.Log.Info("mended: "+messages[area], "group", a.Group, "node", a.Node)
	}
}

// unneeded drops a trouble with what is only needed at times: nobody would find
// out that it was mended, and the node would look ill until then.
func (a *Agent) unneeded(area string) {
	if a.troubles.unset(area) {
		a.Log.Info("not needed any more: "+messages[area], "group", a.Group, "node", a.Node)
	}
}

var messages = map[string]string{
	"declaration": "the declaration can't be read",
	"record":      "the node's record can't be written",
	"metrics":     "the latency can't be published",
	"lease":       "the lease can't be renewed",
	"watch":       "the other node's lease can't be read",
	"takeover":    "the takeover function can't be invoked",
	"endpoint":    "the virtual address can't be changed",
	"view":        "the database's own view shows no service",
	"probe":       "the probe failed",
	"clock":       "the clock is off",
	"deadman":     "the dead-man failed to kill the database",
	"self-fence":  "the database could not be fenced",
	"vow":         "what has to be fenced if this agent hangs can't be kept",
}

// needs are the permissions behind each area.
var needs = map[string]string{
	"declaration": "dynamodb:GetItem", "record": "dynamodb:PutItem", "metrics": "cloudwatch:PutMetricData",
	"lease": "dynamodb:UpdateItem", "watch": "dynamodb:GetItem", "takeover": "lambda:InvokeFunction",
}

// badCredentials are the codes with which AWS refuses credentials:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CommonErrors.html
var badCredentials = []string{
	"UnrecognizedClientException", "InvalidClientTokenId", "InvalidAccessKeyId", "AuthFailure", "IncompleteSignature",
	"IncompleteSignatureException", "InvalidSignatureException", "SignatureDoesNotMatch", "MissingAuthenticationToken",
	"MissingAuthenticationTokenException", "ExpiredToken", "ExpiredTokenException", "RequestExpired",
}

// describe puts an error into words, with the way out.
func describe(area string, err error) trouble {
	t := func(kind string, setup bool, format string, args ...any) trouble {
		return trouble{kind: kind, setup: setup, text: fmt.Sprintf(format, args...)}
	}
	var setup SetupError
	code := awsclient.Code(err)
	switch {
	case errors.As(err, &setup):
		what, _ := setup.Setup()
		return t(what, true, "%s", setup)
	case awsclient.IsAccessDenied(err):
		return t("denied "+needs[area], true, "no permission for %s (%v): give the role of the instance profile a hadr_host_policy", needs[area], err)
	case slices.Contains(badCredentials, code):
		return t("credentials", true, "AWS refuses the credentials (%v): correct the instance profile, or the clock of this host", err)
	case strings.Contains(err.Error(), "get credentials") || strings.Contains(err.Error(), "refresh cached credentials"):
		return t("no credentials", true, "there are no credentials (%v): give the instance a profile", err)
	case errors.Is(err, control.ErrNotFound):
		return t("not declared", true, "%v: run terraform apply, and check HADR_GROUP and HADR_NODE", err)
	case awsclient.IsNotFound(err) && area == "takeover":
		return t("no function", true, "%v: run terraform apply", err)
	case awsclient.IsNotFound(err):
		return t("no table", true, "%v: there is no such table in this Region: check HADR_TABLE and AWS_REGION", err)
	case errors.Is(err, syscall.ENOSPC): // the agent's own: what a database says of its disk is its failure
		return t("disk full", true, "%v: free some space", err)
	}
	return t(unnamed, area != "probe" && area != "view", "%v", err)
}

// checkClock compares this host's clock with AWS's. The peer window is counted
// on one host's clock and compared with the other's (R8).
func (a *Agent) checkClock() {
	offset, at := a.Offset.Offset()
	limit := a.declaration().state.Config.MaxClockOffset
	if at.IsZero() || offset.Abs() <= limit {
		a.clear("clock")
		return
	}
	a.raise("clock", clockError{offset, limit})
}

// clockError is one kind of trouble, however far off the clock is.
type clockError struct{ offset, limit time.Duration }

func (e clockError) Error() string {
	what, fix := e.Setup()
	return fmt.Sprintf("%s by %s, and at most %s is allowed: %s", what, e.offset.Round(100*time.Millisecond), e.limit, fix)
}

func (e clockError) Setup() (what, fix string) {
	return "the clock of this host is off", "let chrony follow 169.254.169.123 (chronyc makestep)"
}
