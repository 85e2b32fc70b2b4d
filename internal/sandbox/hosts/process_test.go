package hosts_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/db2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// metadata answers like IMDS, far enough to see that it is reached.
type metadata struct{}

func (metadata) Handler(id string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(id)) })
}

func newProcessSite(t *testing.T) *site {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, t.TempDir(), hosts.Options{Binary: self, Metadata: metadata{}, ProcstatInterval: -1})
	t.Cleanup(s.hosts.Close)
	return s
}

func TestScriptsAsProcesses(t *testing.T) {
	s := newProcessSite(t)
	for _, m := range []world.Machine{s.a, s.b} {
		if err := s.hosts.Boot(m); err != nil {
			t.Fatal(err)
		}
	}
	checkScripts(t, s)
	if out, _ := s.run("i-a", "echo $AWS_EC2_METADATA_SERVICE_ENDPOINT"); !strings.HasPrefix(out, "http://127.0.0.1:") {
		t.Error(out)
	} else if r, err := http.Get(strings.TrimSpace(out)); err != nil {
		t.Error(err)
	} else {
		_ = r.Body.Close()
	}
	http.DefaultClient.CloseIdleConnections()
}

// Sixteen clients write through the VIP; the primary's power goes; the standby
// takes over inside the window: nothing that was acknowledged is lost.
func TestTakeoverWithProcesses(t *testing.T) {
	s := newProcessSite(t)
	p := pair
	p.TakeoverTime, p.LocalCatchup = 100*time.Millisecond, 100*time.Millisecond
	s.up(p)
	s.waitForPeer("i-b")
	s.run("i-a", "ip addr add "+vip+"/32 dev eth0")
	addr, err := s.hosts.Fabric().ListenVIP("rtb-1", vip, 50000)
	if err != nil {
		t.Fatal(err)
	}
	dial := func() (net.Conn, error) { return net.Dial("tcp", addr.String()) }
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	acked := make([][]int64, 16)
	var wg sync.WaitGroup
	for i := range acked {
		wg.Go(func() { acked[i] = commits(ctx, dial, string(rune('a'+i))) })
	}
	began := time.Now()
	time.Sleep(time.Second)
	s.hosts.Vanish("i-a")
	took := time.Since(began)
	out, code := s.run("i-b", takeover)
	if code != 0 {
		diag, _ := s.run("i-b", "cat home/db2inst1/sqllib/db2dump/db2diag.log; db2pd -db SAMPLE -hadr")
		t.Fatalf("takeover: %d %s\n%s", code, out, diag)
	}
	cancel()
	wg.Wait()
	total := 0
	for i, a := range acked {
		total += len(a)
		if n := s.lost("i-b", string(rune('a'+i)), a); n > 0 {
			t.Errorf("client %d lost %d of %d", i, n, len(a))
		}
	}
	t.Logf("%.0f commits/s", float64(total)/took.Seconds())
	if total < 100 {
		t.Errorf("%d commits acknowledged", total)
	}
	s.net.move("i-b")
	next, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	time.AfterFunc(200*time.Millisecond, stop)
	if got := commits(next, dial, "z"); len(got) == 0 {
		t.Error("the new primary takes no commits through the VIP")
	}

	if err := s.hosts.Boot(s.a); err != nil {
		t.Fatal(err)
	}
	s.run("i-a", `until db2pd -db SAMPLE -hadr | grep -q 'not activated'; do sleep 0.1; done
runuser -l db2inst1 -c 'db2 start hadr on db SAMPLE as standby'`)
	s.waitForPeer("i-a")
	if n := s.hosts.KillProcess("i-b", "db2sysc"); n != 1 {
		t.Errorf("killed %d processes", n)
	}
	if out, _ := s.run("i-b", "runuser -l db2inst1 -c 'db2pd -db SAMPLE -hadr'"); !strings.HasPrefix(out, "Unable to attach to database manager") {
		t.Error(out)
	}
}

// A frozen machine is silent; thawed, it goes on.
func TestFreezeProcesses(t *testing.T) {
	s := newProcessSite(t)
	p := db2.Pair{PeerWindow: 120 * time.Second, Timeout: 60 * time.Second, LocalCatchup: 100 * time.Millisecond}
	s.up(p)
	s.waitForPeer("i-b")
	s.hosts.Freeze("i-a", "db2sysc")
	if out, _ := s.run("i-a", "timeout 0.5 db2 connect to SAMPLE; echo $?"); !strings.HasSuffix(out, "124\n") {
		t.Errorf("%q", out)
	}
	s.hosts.Thaw("i-a", "db2sysc")
	if out, _ := s.run("i-a", "db2 connect to SAMPLE >/dev/null; echo $?; db2stop >/dev/null; echo $?"); out != "0\n0\n" {
		t.Errorf("%q", out)
	}
}

// In a sped-up sandbox, the programs of a machine follow its clock.
func TestScaledClockReachesProcesses(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := clock.NewScaled(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), 100)
	s := newSiteAt(t, c, t.TempDir(), hosts.Options{Binary: self, ProcstatInterval: -1})
	t.Cleanup(s.hosts.Close)
	if err := s.hosts.Boot(s.a); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	out, code := s.run("i-a", "date -u +%F; sleep 30; timeout 10 sleep 1000; echo $?")
	if code != 0 || out != "2030-01-01\n124\n" {
		t.Errorf("%d %q", code, out)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("40 s at 100 times the speed took %s", took)
	}
	if err := s.hosts.ClockOffset("i-a", -24*time.Hour); err != nil {
		t.Fatal(err)
	}
	if out, _ := s.run("i-a", "date -u +%F"); out != "2029-12-31\n" {
		t.Errorf("with the clock a day late: %q", out)
	}
}

// The unit hadr-agent is the configured program, with its own environment.
func TestAgentAsProcess(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	agent := filepath.Join(t.TempDir(), "agent")
	script := "#!/bin/sh\necho $HADR_GROUP $AWS_REGION >>$HADR_ROOT/var/log/ran\nexec sleep 1000\n"
	if err := os.WriteFile(agent, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, t.TempDir(), hosts.Options{Binary: self, Agent: agent, ProcstatInterval: -1})
	t.Cleanup(s.hosts.Close)
	if err := s.hosts.Boot(s.a); err != nil {
		t.Fatal(err)
	}
	out, _ := s.run("i-a", `echo HADR_GROUP=orders >$HADR_ROOT/etc/hadr/agent.env
systemctl start hadr-agent
until test -s $HADR_ROOT/var/log/ran; do sleep 0.05; done
cat $HADR_ROOT/var/log/ran
systemctl is-active hadr-agent
systemctl stop hadr-agent
systemctl is-active hadr-agent`)
	if out != "orders eu-central-1\nactive\ninactive\n" {
		t.Errorf("%q", out)
	}
}
