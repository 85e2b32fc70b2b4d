package hosts_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/db2"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/fabric"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// The test binary is also the program behind the machines' commands.
func TestMain(m *testing.M) {
	if handled, code := hosts.MultiCall(os.Args[0], os.Args[1:]); handled {
		os.Exit(code)
	}
	goleak.VerifyTestMain(m)
}

const vip = "192.168.77.10"

// network is EC2's view: addresses of instances and one route for the VIP.
type network struct {
	mu     sync.Mutex
	owners map[string]string
	route  string
}

func (n *network) Owner(ip string) (string, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	id, ok := n.owners[ip]
	return id, ok
}

func (n *network) Route(_, ip string) (string, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.route, ip == vip && n.route != ""
}

func (n *network) move(to string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.route = to
}

// metrics remembers what was published.
type metrics struct {
	mu   sync.Mutex
	data []world.Datum
}

func (m *metrics) PutMetric(_, _ string, data ...world.Datum) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.data = append(m.data, data...)
}

// last returns the newest value of the series {InstanceId} that is younger
// than age, or -1.
func (m *metrics) last(instance string, now time.Time, age time.Duration) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	value := -1.0
	for _, d := range m.data {
		if len(d.Dimensions) == 1 && d.Dimensions["InstanceId"] == instance && now.Sub(d.Time) < age {
			value = d.Value
		}
	}
	return value
}

// site is two machines with a Db2 pair and their surroundings.
type site struct {
	t       *testing.T
	hosts   *hosts.Hosts
	net     *network
	metrics *metrics
	a, b    world.Machine
}

func newSite(t *testing.T, dir string, o hosts.Options) *site {
	return newSiteAt(t, clock.System(), dir, o)
}

func newSiteAt(t *testing.T, c clock.Clock, dir string, o hosts.Options) *site {
	w := world.New(c)
	s := &site{
		t: t, net: &network{owners: map[string]string{"10.0.1.10": "i-a", "10.0.2.10": "i-b"}, route: "i-a"}, metrics: &metrics{},
		a: world.Machine{InstanceID: "i-a", Region: "eu-central-1", Account: world.DefaultAccount, PrivateIP: "10.0.1.10"},
		b: world.Machine{InstanceID: "i-b", Region: "eu-central-1", Account: world.DefaultAccount, PrivateIP: "10.0.2.10"},
	}
	w.Network, w.Metrics = s.net, s.metrics
	o.World, o.Dir = w, dir
	o.RouteTable = func(string) string { return "rtb-1" }
	s.hosts = hosts.New(o)
	return s
}

var pair = db2.Pair{PeerWindow: 120 * time.Second, Timeout: 60 * time.Second}

func (s *site) up(p db2.Pair) {
	s.t.Helper()
	for _, m := range []world.Machine{s.a, s.b} {
		if err := s.hosts.Boot(m); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := s.hosts.SetupDb2(context.Background(), p, s.a, s.b); err != nil {
		s.t.Fatal(err)
	}
}

// inBubble runs a scenario on the in-process executor in virtual time.
func inBubble(t *testing.T, o hosts.Options, scenario func(*testing.T, *site)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, dir, o)
		defer func() {
			s.hosts.Close()
			time.Sleep(10 * time.Minute) // pending timers run out
		}()
		scenario(t, s)
	})
}

// run runs a script through the SSM agent.
func (s *site) run(instance, script string) (string, int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	r, err := s.hosts.Run(ctx, world.Command{ID: "c-1", InstanceID: instance, Script: script, Timeout: 4 * time.Minute})
	if err != nil {
		s.t.Fatalf("run on %s: %v", instance, err)
	}
	return r.Stdout + r.Stderr, r.Code
}

const peerScript = `for i in $(seq 60); do
  if runuser -l db2inst1 -c 'db2pd -db SAMPLE -hadr' 2>/dev/null | grep -q 'HADR_STATE = PEER'; then echo peer; exit 0; fi
  sleep 1
done
exit 1`

func (s *site) waitForPeer(instance string) {
	s.t.Helper()
	if out, code := s.run(instance, peerScript); code != 0 || out != "peer\n" {
		s.t.Fatalf("%s does not reach PEER: %d %s", instance, code, out)
	}
}

const takeover = `ip addr add ` + vip + `/32 dev eth0
runuser -l db2inst1 -c 'db2 takeover hadr on db SAMPLE by force peer window only'`

// commits writes through a dialer until ctx ends and returns what was
// acknowledged.
func commits(ctx context.Context, dial func() (net.Conn, error), client string) []int64 {
	var acked []int64
	conn, err := dial()
	if err != nil {
		return nil
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	in := bufio.NewScanner(conn)
	for seq := int64(1); ; seq++ {
		if _, err := fmt.Fprintf(conn, "COMMIT %s %d\n", client, seq); err != nil || !in.Scan() || !strings.HasPrefix(in.Text(), "ACK ") {
			return acked
		}
		acked = append(acked, seq)
	}
}

// lost counts acknowledged commits that an instance does not have.
func (s *site) lost(instance, client string, acked []int64) int {
	s.t.Helper()
	rows, err := s.hosts.Commits(instance, "SAMPLE")
	if err != nil {
		s.t.Fatal(err)
	}
	has := map[int64]bool{}
	for _, r := range rows {
		if r.Client == client {
			has[r.Seq] = true
		}
	}
	n := 0
	for _, seq := range acked {
		if !has[seq] {
			n++
		}
	}
	return n
}

func (s *site) dialVIP(ctx context.Context) func() (net.Conn, error) {
	return func() (net.Conn, error) {
		return s.hosts.Fabric().Dial(ctx, fabric.Origin{RouteTable: "rtb-1"}, vip, 50000)
	}
}

func TestTakeoverThroughTheAgent(t *testing.T) {
	inBubble(t, hosts.Options{}, func(t *testing.T, s *site) {
		s.up(pair)
		s.waitForPeer("i-b")
		s.run("i-a", "ip addr add "+vip+"/32 dev eth0")
		if got := s.metrics.last("i-a", time.Now(), time.Minute); got != 1 {
			time.Sleep(20 * time.Second)
			if got = s.metrics.last("i-a", time.Now(), time.Minute); got != 1 {
				t.Errorf("process count %v", got)
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		done := make(chan []int64)
		slow := func() (net.Conn, error) {
			conn, err := s.dialVIP(ctx)()
			return paced{conn}, err
		}
		go func() { done <- commits(ctx, slow, "c") }()
		time.Sleep(2 * time.Second)
		s.hosts.Vanish("i-a")
		if system, instance := s.hosts.Healthy("i-a"); system || instance {
			t.Error("a vanished machine looks healthy")
		}
		if s.hosts.AgentOnline("i-a") {
			t.Error("its agent looks online")
		}
		out, code := s.run("i-b", takeover)
		if code != 0 || !strings.HasPrefix(out, "DB20000I  The TAKEOVER HADR ON DATABASE") {
			t.Fatalf("takeover: %d %s", code, out)
		}
		s.net.move("i-b") // the old connection's bytes reach a host without it: RST
		time.Sleep(3 * time.Second)
		cancel() // a request that the dead primary had taken is never answered
		acked := <-done
		if len(acked) < 50 || s.lost("i-b", "c", acked) > 0 {
			t.Errorf("%d acknowledged, %d lost", len(acked), s.lost("i-b", "c", acked))
		}
		next, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		if more := commits(next, func() (net.Conn, error) { c, err := s.dialVIP(next)(); return paced{c}, err }, "d"); len(more) == 0 {
			t.Error("the new primary takes no commits through the VIP")
		}
		if got := s.metrics.last("i-a", time.Now(), time.Second); got != -1 {
			t.Errorf("a machine that is off published %v", got)
		}
	})
}

// paced is a client that thinks before every commit.
type paced struct{ net.Conn }

func (p paced) Write(b []byte) (int, error) {
	time.Sleep(5 * time.Millisecond)
	return p.Conn.Write(b)
}

// A rebooted machine comes up without the VIP, and autostarts what is enabled.
func TestReboot(t *testing.T) {
	inBubble(t, hosts.Options{}, func(t *testing.T, s *site) {
		s.up(pair)
		s.waitForPeer("i-b")
		s.run("i-b", "ip addr add "+vip+"/32 dev eth0; systemctl disable db2; touch $HADR_ROOT/var/lib/kept")
		if out, code := s.run("i-b", "ip addr add "+vip+"/32 dev eth0"); code != 2 {
			t.Errorf("adding an address twice: %d %s", code, out)
		}
		s.hosts.Off("i-b")
		if err := s.hosts.Boot(s.b); err != nil {
			t.Fatal(err)
		}
		out, _ := s.run("i-b", "ip addr show; systemctl is-active db2; ls $HADR_ROOT/var/lib/kept >/dev/null && echo kept; hostname")
		if out != "inactive\nkept\nip-10-0-2-10\n" {
			t.Errorf("%q", out)
		}
		if out, code := s.run("i-b", "systemctl enable --now db2 && systemctl is-active db2"); out != "active\n" || code != 0 {
			t.Errorf("%d %q", code, out)
		}
		s.waitForPeer("i-b")
	})
}

// A shutdown stops the services in order: db2stop writes to the log, which a
// power cut does not.
func TestShutdownIsNotOff(t *testing.T) {
	inBubble(t, hosts.Options{}, func(t *testing.T, s *site) {
		s.up(pair)
		s.waitForPeer("i-b")
		s.hosts.Fabric().CutBoth("i-a", "i-b")
		if err := s.hosts.Shutdown(context.Background(), "i-a"); err != nil {
			t.Fatal(err)
		}
		if out, code := s.run("i-b", takeover); code != 0 {
			t.Fatal(out)
		}
		s.hosts.Fabric().Heal("i-a", "i-b")
		if err := s.hosts.Boot(s.a); err != nil {
			t.Fatal(err)
		}
		out, _ := s.run("i-a", `sleep 5
runuser -l db2inst1 -c 'db2 start hadr on db SAMPLE as standby'
sleep 30
grep -c ADM12500E $HADR_ROOT/home/db2inst1/sqllib/db2dump/db2diag.log`)
		if !strings.HasSuffix(out, "\n1\n") {
			t.Errorf("a gracefully stopped old primary was reintegrated: %s", out)
		}
	})
}

func TestFrozenMachine(t *testing.T) {
	inBubble(t, hosts.Options{}, func(t *testing.T, s *site) {
		s.up(pair)
		s.waitForPeer("i-b")
		s.hosts.Freeze("i-a")
		if system, instance := s.hosts.Healthy("i-a"); !system || instance {
			t.Errorf("frozen: system %v instance %v", system, instance)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		began := time.Now()
		if _, err := s.hosts.Run(ctx, world.Command{ID: "c", InstanceID: "i-a", Script: "true"}); err == nil || time.Since(began) != time.Minute {
			t.Errorf("a frozen machine answered after %s: %v", time.Since(began), err)
		}
		time.Sleep(5 * time.Second)
		out, _ := s.run("i-b", "db2pd -db SAMPLE -hadr | grep HADR_STATE")
		if !strings.Contains(out, "DISCONNECTED_PEER") {
			t.Errorf("the standby of a frozen primary: %s", out)
		}
		s.hosts.Thaw("i-a")
		s.waitForPeer("i-b")
	})
}

// db2sysc alone frozen: the machine answers, its database does not.
func TestFrozenDatabase(t *testing.T) {
	inBubble(t, hosts.Options{}, func(t *testing.T, s *site) {
		s.up(pair)
		s.waitForPeer("i-b")
		s.hosts.Freeze("i-a", "db2sysc")
		if out, code := s.run("i-a", "timeout 10 db2 connect to SAMPLE; echo $?"); out != "124\n" || code != 0 {
			t.Errorf("%d %q", code, out)
		}
		s.hosts.Thaw("i-a", "db2sysc")
		if out, _ := s.run("i-a", "timeout 10 db2 connect to SAMPLE >/dev/null; echo $?"); out != "0\n" {
			t.Errorf("%q", out)
		}
	})
}

func TestKilledProcessIsCounted(t *testing.T) {
	inBubble(t, hosts.Options{ProcstatInterval: 10 * time.Second}, func(t *testing.T, s *site) {
		s.up(pair)
		s.waitForPeer("i-b")
		if n := s.hosts.KillProcess("i-a", "db2sysc"); n != 1 {
			t.Errorf("killed %d", n)
		}
		time.Sleep(11 * time.Second)
		if got := s.metrics.last("i-a", time.Now(), 11*time.Second); got != 0 {
			t.Errorf("process count %v, want 0 from a live machine", got)
		}
		if out, _ := s.run("i-b", "db2pd -db SAMPLE -hadr | grep 'HADR_STATE '"); !strings.Contains(out, "DISCONNECTED_PEER") {
			t.Errorf("a dead process is noticed at once: %s", out)
		}
	})
}

func TestCommandTimeoutAndPowerLoss(t *testing.T) {
	inBubble(t, hosts.Options{}, func(t *testing.T, s *site) {
		s.up(pair)
		r, err := s.hosts.Run(context.Background(), world.Command{ID: "c", InstanceID: "i-a", Script: "echo begun; sleep 100; echo ended", Timeout: 30 * time.Second})
		if err != nil || !r.TimedOut || r.Code != -1 || r.Stdout != "begun\n" || r.Ended.Sub(r.Started) != 30*time.Second {
			t.Errorf("%+v %v", r, err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		time.AfterFunc(10*time.Second, func() { s.hosts.Off("i-a") })
		began := time.Now()
		if _, err := s.hosts.Run(ctx, world.Command{ID: "c", InstanceID: "i-a", Script: "sleep 100"}); err == nil || time.Since(began) != time.Hour {
			t.Errorf("the agent of a dead machine reported after %s: %v", time.Since(began), err)
		}
	})
}

func TestClockOffsetReachesDate(t *testing.T) {
	inBubble(t, hosts.Options{}, func(t *testing.T, s *site) {
		s.up(pair)
		if err := s.hosts.ClockOffset("i-a", 90*time.Second); err != nil {
			t.Fatal(err)
		}
		out, _ := s.run("i-a", "date -u +%FT%TZ")
		if want := time.Now().Add(90*time.Second).UTC().Format(time.RFC3339) + "\n"; out != want {
			t.Errorf("%q, want %q", out, want)
		}
	})
}
