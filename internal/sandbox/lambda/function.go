package lambda

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
)

// latest is the version that can be changed.
const latest = "$LATEST"

// settling is how long a new or updated function is Pending or InProgress.
// https://docs.aws.amazon.com/lambda/latest/dg/functions-states.html
const settling = time.Second

type function struct {
	key       functionKey
	arn       string // unqualified
	latest    *version
	published map[int]*version
	last      int // highest version that was ever published
	aliases   map[string]*alias
	policies  map[string]*policy        // by qualifier, "" for the function itself
	events    map[string]*eventSettings // by qualifier, latest for the function itself
	urls      map[string]*functionURL   // by qualifier, "" for the function itself
	tags      map[string]string
	reserved  *int32
	running   int
}

// version is one state of a function. Its config is never changed: an update
// makes a new version.
type version struct {
	config      types.FunctionConfiguration // without State and LastUpdateStatus
	code        *Code
	created     bool      // made by CreateFunction, not by an update
	ready       time.Time // when it has settled
	publishedAs *version  // the published version with the same content
	pool        *pool
}

type alias struct {
	config types.AliasConfiguration
}

func (f *function) all() []*version {
	all := []*version{f.latest}
	for _, n := range slices.Sorted(maps.Keys(f.published)) {
		all = append(all, f.published[n])
	}
	return all
}

// resolve returns the version that a qualifier means; nil if there is none.
func (f *function) resolve(qualifier string) *version {
	if a := f.aliases[qualifier]; a != nil {
		qualifier = *a.config.FunctionVersion
	}
	if qualifier == "" || qualifier == latest {
		return f.latest
	}
	n, err := strconv.Atoi(qualifier)
	if err != nil {
		return nil
	}
	return f.published[n]
}

// qualifiedARN is the ARN by which a caller named the function.
func (f *function) qualifiedARN(qualifier string) string {
	if qualifier == "" {
		return f.arn
	}
	return f.arn + ":" + qualifier
}

// view returns the configuration as it is shown at a time.
func (f *function) view(v *version, qualifier string, now time.Time) types.FunctionConfiguration {
	c := v.config
	c.FunctionArn = aws.String(f.qualifiedARN(qualifier))
	c.State, c.LastUpdateStatus = types.StateActive, types.LastUpdateStatusSuccessful
	if v.pending(now) {
		c.State = types.StatePending
		c.StateReasonCode = types.StateReasonCodeCreating
		c.StateReason = aws.String("The function is being created.")
		c.LastUpdateStatus = types.LastUpdateStatusInProgress
	}
	if v.updating(now) {
		c.LastUpdateStatus = types.LastUpdateStatusInProgress
	}
	return c
}

func (v *version) pending(now time.Time) bool  { return v.created && now.Before(v.ready) }
func (v *version) updating(now time.Time) bool { return !v.created && now.Before(v.ready) }

// same reports whether two versions have the same code and settings.
func (v *version) same(o *version) bool {
	a, b := v.config, o.config
	for _, c := range []*types.FunctionConfiguration{&a, &b} {
		c.RevisionId, c.LastModified, c.Version, c.FunctionArn = nil, nil, nil, nil
	}
	return reflect.DeepEqual(a, b)
}

// replace makes v the latest version of f. The caller holds l.mu.
func (l *Lambda) replace(f *function, v *version) {
	now := l.world.Clock.Now()
	v.config.RevisionId = aws.String(l.world.UUID())
	v.config.LastModified = aws.String(now.Format("2006-01-02T15:04:05.000+0000"))
	v.config.Version = aws.String(latest)
	v.ready = now.Add(settling)
	v.pool = &pool{}
	if old := f.latest; old != nil {
		if v.same(old) {
			v.publishedAs = old.publishedAs
		}
		old.pool.retire()
	}
	f.latest = v
}

// shape copies the members that two shapes of the SDK share: all operations on
// functions answer with the same members in a type of their own.
func shape[Out any](config types.FunctionConfiguration) *Out {
	out := new(Out)
	from, to := reflect.ValueOf(config), reflect.ValueOf(out).Elem()
	for i := range from.NumField() {
		if f := from.Type().Field(i); f.IsExported() {
			if t := to.FieldByName(f.Name); t.IsValid() {
				t.Set(from.Field(i))
			}
		}
	}
	return out
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
