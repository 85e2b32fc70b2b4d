package sandbox_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/db2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// TestFullLogDevice: the control path fills the disk of a standby, which its
// own database and that of its primary show, and empties it when its time is
// over.
func TestFullLogDevice(t *testing.T) { synctest.Test(t, testFullLogDevice) }

func testFullLogDevice(t *testing.T) {
	s := build(t, sandbox.Options{})
	post := func(order string) string {
		r, w := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:4566/_sandbox/faults", strings.NewReader(order)), httptest.NewRecorder()
		r.RemoteAddr = "127.0.0.1:1024"
		s.Handler().ServeHTTP(w, r)
		return w.Body.String()
	}
	fill := `{"kind":"full-log-device","instance":"` + s.host("b") + `","for":"2m"}`
	if said := post(fill); !strings.Contains(said, "error") {
		t.Errorf("the disk of a host without Db2 is filled: %s", said)
	}
	machines := map[string]world.Machine{}
	for _, i := range s.EC2.Instances() {
		machines[i.InstanceID] = i.Machine
	}
	if err := s.Hosts.SetupDb2(t.Context(), db2.Pair{PeerWindow: 420 * time.Second, Timeout: 120 * time.Second}, machines[s.host("a")], machines[s.host("b")]); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Minute)
	flags := func(node string) bool {
		r := must[world.CommandResult](t)(s.Hosts.Run(t.Context(), world.Command{ID: "test", InstanceID: s.host(node),
			Script: "runuser -l db2inst1 -c 'db2 connect to SAMPLE; db2pd -db SAMPLE -hadr'", Timeout: time.Minute}))
		if !strings.Contains(r.Stdout, "HADR_STATE = PEER") {
			t.Fatalf("node %s: %s%s", node, r.Stdout, r.Stderr)
		}
		return strings.Contains(r.Stdout, "STANDBY_LOG_DEVICE_FULL")
	}
	if flags("a") || flags("b") {
		t.Error("the disk is full from the beginning")
	}
	if said := post(fill); !strings.Contains(said, `"id"`) {
		t.Fatalf("not injected: %s", said)
	}
	time.Sleep(time.Minute)
	if !flags("a") || !flags("b") {
		t.Errorf("a full disk is not seen: primary %t, standby %t", flags("a"), flags("b"))
	}
	time.Sleep(90 * time.Second)
	if flags("a") || flags("b") {
		t.Errorf("the end of it is not seen: primary %t, standby %t", flags("a"), flags("b"))
	}
}
