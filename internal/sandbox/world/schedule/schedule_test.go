package schedule

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func at(t *testing.T, s string) time.Time {
	t.Helper()
	x, err := time.Parse("2006-01-02 15:04:05", s)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestNext(t *testing.T) {
	for _, tc := range []struct{ expression, zone, after, want string }{ // want: "" = never again
		{"rate(5 minutes)", "", "2026-11-29 03:00:00", "2026-11-29 03:05:00"},
		{"rate(5 minutes)", "", "2026-11-29 03:12:30", "2026-11-29 03:15:00"},
		{"rate(1 day)", "Europe/Berlin", "2026-11-29 02:59:59", "2026-11-29 03:00:00"}, // its anchor
		{"at(2026-11-29T04:00:00)", "Europe/Berlin", "2026-11-29 02:59:59", "2026-11-29 03:00:00"},
		{"at(2026-11-29T04:00:00)", "Europe/Berlin", "2026-11-29 03:00:00", ""},
		{"cron(* * * * ? *)", "", "2026-11-29 03:00:00", "2026-11-29 03:01:00"},
		{"cron(0/15 8-9,17 ? * MON-FRI *)", "", "2026-11-27 17:45:00", "2026-11-30 08:00:00"},
		{"cron(15 10 ? * 6L 2026-2027)", "", "2026-11-29 03:00:00", "2026-12-25 10:15:00"},
		{"cron(0 12 1/5 * ? *)", "", "2026-11-26 12:00:00", "2026-12-01 12:00:00"},
		{"cron(0 0 L * ? *)", "", "2028-02-01 00:00:00", "2028-02-29 00:00:00"},
		{"cron(0 0 LW * ? *)", "", "2027-01-31 00:00:00", "2027-02-26 00:00:00"}, // the 28th is a Sunday
		{"cron(0 0 1W * ? *)", "", "2027-04-30 00:00:00", "2027-05-03 00:00:00"}, // the 1st is a Saturday
		{"cron(0 0 15W 11 ? 2026)", "", "2026-11-01 00:00:00", "2026-11-16 00:00:00"},
		{"cron(0 0 31W 2 ? *)", "", "2026-11-01 00:00:00", ""},
		{"cron(0 0 ? * 2#1 *)", "", "2026-11-29 03:00:00", "2026-12-07 00:00:00"},
		{"cron(0 0 ? * tue#5 *)", "", "2026-11-29 03:00:00", "2026-12-29 00:00:00"},
		{"cron(0 0 ? * L *)", "", "2026-11-29 03:00:00", "2026-12-05 00:00:00"},
		{"cron(0 0 29 FEB ? *)", "", "2026-11-29 03:00:00", "2028-02-29 00:00:00"},
		{"cron(0 0 30 2 ? *)", "", "2026-11-29 03:00:00", ""},
		{"cron(0 0 1 1 ? 2025)", "", "2026-11-29 03:00:00", ""},
		{"cron(0 8 * * ? *)", "America/New_York", "2026-07-01 12:00:00", "2026-07-02 12:00:00"},
		{"cron(30 2 * * ? *)", "America/New_York", "2026-03-08 00:00:00", "2026-03-09 06:30:00"}, // skipped in spring
		{"cron(30 1 * * ? *)", "America/New_York", "2026-11-01 05:30:00", "2026-11-02 06:30:00"}, // once in autumn
	} {
		t.Run(tc.expression+" after "+tc.after, func(t *testing.T) {
			e, err := Parse(tc.expression)
			if err != nil {
				t.Fatal(err)
			}
			zone, err := Zone(tc.zone)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := e.Next(at(t, "2026-11-29 03:00:00"), at(t, tc.after), zone)
			if tc.want == "" {
				if ok {
					t.Fatalf("next is %s, want none", got)
				}
				return
			}
			if want := at(t, tc.want); !ok || !got.Equal(want) {
				t.Errorf("next is %s (%t), want %s", got, ok, want)
			}
		})
	}
}

func TestMalformedExpressions(t *testing.T) {
	for _, text := range []string{
		"", "sometimes", "rate(often)", "rate(0 minutes)", "rate(-1 minutes)", "rate(5 seconds)", "rate(5  minutes)", "rate(99999999999999999999 days)", "rate(5 minutes",
		"at(2026-13-01T00:00:00)", "at(2026-11-29 03:00:00)", "at(2026-11-29T03:00:00Z)",
		"cron()", "cron(0 12 * * ?)", "cron(0 12 * * * *)", "cron(0 12 ? * ? *)", "cron(60 12 * * ? *)", "cron(0 24 * * ? *)", "cron(0 0 0 * ? *)", "cron(0 0 32 * ? *)",
		"cron(0 0 * 13 ? *)", "cron(0 0 ? * 8 *)", "cron(0 0 ? * MON#6 *)", "cron(0 0 ? * FOO *)", "cron(0 0 * * ? 1969)", "cron(0 0 * * ? 2200)", "cron(5-1 0 * * ? *)",
		"cron(*/0 0 * * ? *)", "cron(, 0 * * ? *)", "cron(0 0 XW * ? *)", "cron(0 0 ? * XL *)",
	} {
		if e, err := Parse(text); err == nil {
			t.Errorf("%q is read as %+v", text, e)
		}
	}
	for text, want := range map[string]bool{"rate(1 minute)": true, "rate(1 minutes)": false, "rate(2 hours)": true, "rate(2 hour)": false} {
		if e, err := Parse(text); err != nil || e.Grammatical != want {
			t.Errorf("%q: grammatical %t (%v), want %t", text, e.Grammatical, err, want)
		}
	}
	if _, err := Zone("Local"); err == nil {
		t.Error("the zone of this machine is accepted")
	}
	if _, err := Zone("Mars/Olympus"); err == nil {
		t.Error("a zone of Mars is accepted")
	}
}

// TestCronAgreesWithBruteForce compares next with a walk over all minutes.
func TestCronAgreesWithBruteForce(t *testing.T) {
	value := func() *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"*", "0/7", "3-9", "5", "1,4,8", "2-10/3"}).Draw(t, "field")
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join([]string{value().Draw(t, "minutes"), value().Draw(t, "hours"), "*", "*", "?", "*"}, " ")
		c, err := parseCron(text)
		if err != nil {
			t.Fatal(err)
		}
		zone := time.UTC
		after := time.Unix(rapid.Int64Range(0, 2e9).Draw(t, "after"), 0)
		want := after.Truncate(time.Minute).Add(time.Minute).In(zone)
		for !c.minutes[want.Minute()] || !c.hours[want.Hour()] {
			want = want.Add(time.Minute)
		}
		if got, ok := c.next(after, zone); !ok || !got.Equal(want) {
			t.Fatalf("cron(%s) after %s: %s, want %s", text, after, got, want)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"rate(5 minutes)", "at(2026-11-29T04:00:00)", "cron(0/15 8-9 ? * MON-FRI *)", "cron(0 0 LW * ? *)", "cron(0 0 ? * 6#3 2026)"} {
		f.Add(s)
	}
	now := time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		e, err := Parse(s)
		if err != nil {
			return
		}
		if next, ok := e.Next(now, now, time.UTC); ok && !next.After(now) {
			t.Errorf("%q: next time %s is not after %s", s, next, now)
		}
	})
}

func TestKeeper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		k := NewKeeper(clock.System())
		start := time.Now()
		var calls []time.Duration
		done := make(chan struct{})
		go func() {
			defer close(done)
			k.Run(ctx, func(now time.Time) time.Time {
				calls = append(calls, now.Sub(start))
				if len(calls) == 1 {
					return now.Add(time.Minute)
				}
				return time.Time{}
			})
		}()
		time.Sleep(2 * time.Minute)
		k.Ring()
		synctest.Wait()
		cancel()
		<-done
		if len(calls) != 3 || calls[0] != 0 || calls[1] != time.Minute || calls[2] != 2*time.Minute {
			t.Errorf("work was called after %v, want 0, 1m and 2m", calls)
		}
	})
}
