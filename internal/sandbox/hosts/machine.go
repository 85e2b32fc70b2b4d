package hosts

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/hosts/fabric"
	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/world"
)

// machine is one simulated host. It implements Host for its programs.
type machine struct {
	h     *Hosts
	root  string
	clock *offsetClock

	mu     sync.Mutex
	info   world.Machine
	on     bool
	frozen bool // the whole machine
	procs  map[*process]struct{}
	units  map[string]*service
	power  context.Context // ends when the power goes
	cut    context.CancelFunc
	stop   []func() // what else ends with the power
	wg     sync.WaitGroup

	published map[int]string // ports that are servers of this computer, see Publish

	starting chan struct{} // held by the start job of the unit db2
}

// process is a running program.
type process struct {
	name   string
	kill   func()            // at once
	term   func()            // asks it to end
	freeze func(frozen bool) // SIGSTOP and SIGCONT
	held   atomic.Bool       // frozen by itself, not with its machine
	done   chan struct{}
	code   int // valid once done is closed
}

func (m *machine) id() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.info.InstanceID
}

// Root implements Host.
func (m *machine) Root() string { return m.root }

func (m *machine) running() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.on
}

func (m *machine) isFrozen() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.frozen
}

// hostname is the private DNS name that EC2 gives:
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/hostname-types.html
func (m *machine) hostname() string { return Hostname(m.info.PrivateIP) }

// Hostname is the host name of a machine with a private address.
func Hostname(privateIP string) string { return "ip-" + strings.ReplaceAll(privateIP, ".", "-") }

var tree = []string{"bin", "etc/hadr", "run", "var/lib", "var/log", "tmp", "root"}

// boot brings the machine up.
func (m *machine) boot(info world.Machine) error {
	m.mu.Lock()
	if m.on {
		m.mu.Unlock()
		return errors.New("it runs already")
	}
	m.info, m.on, m.frozen = info, true, false
	m.procs, m.units = map[*process]struct{}{}, map[string]*service{}
	m.power, m.cut = context.WithCancel(m.h.ctx)
	m.stop, m.starting = nil, make(chan struct{}, 1)
	m.mu.Unlock()
	_ = os.RemoveAll(filepath.Join(m.root, "run")) // a tmpfs
	for _, dir := range tree {
		if err := os.MkdirAll(filepath.Join(m.root, dir), 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(m.root, "etc/hostname"), []byte(m.hostname()+"\n"), 0o644); err != nil {
		return err
	}
	m.h.fabric.PowerOn(info.InstanceID, info.PrivateIP)
	if err := m.h.exec.prepare(m); err != nil {
		m.powerOff()
		return err
	}
	m.openPublished()
	m.background(func() { m.firstBoot(); m.autostart() })
	return nil
}

// background runs f until it returns; settle waits for it.
func (m *machine) background(f func()) { m.wg.Go(f) }

// firstBoot runs the user data once in the life of the disks.
func (m *machine) firstBoot() {
	mark := filepath.Join(m.root, "var/lib/first-boot-done")
	if _, err := os.Stat(mark); err == nil || !strings.HasPrefix(m.info.UserData, "#!") {
		return
	}
	r, err := m.h.exec.script(m.power, m, world.Command{ID: "user-data", Script: m.info.UserData})
	if m.power.Err() != nil {
		return // power lost: it runs again
	}
	text := r.Stdout + r.Stderr
	if err != nil {
		text += err.Error() + "\n"
	}
	_ = os.WriteFile(filepath.Join(m.root, "var/log/cloud-init-output.log"), []byte(text), 0o644)
	if err := os.WriteFile(mark, nil, 0o644); err != nil {
		m.h.log.Warn("mark the first boot", "instance", m.id(), "error", err)
	}
}

// powerOff ends everything at once. The network goes first: nobody may hear
// the processes die.
func (m *machine) powerOff() {
	m.mu.Lock()
	if !m.on {
		m.mu.Unlock()
		return
	}
	m.on = false
	procs := m.procs
	m.procs = map[*process]struct{}{}
	stop, cut, id := m.stop, m.cut, m.info.InstanceID
	m.mu.Unlock()
	m.h.fabric.PowerOff(id)
	m.h.exec.slaughter(m)
	for p := range procs {
		p.kill()
	}
	cut()
	for _, f := range stop {
		f()
	}
}

// settle waits until nothing of the machine's last life is left.
func (m *machine) settle() {
	if !m.running() {
		m.wg.Wait()
	}
}

// atPowerOff calls f when the power goes.
func (m *machine) atPowerOff(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stop = append(m.stop, f)
}

// track adds a process that was just started; it is killed if the power went
// meanwhile.
func (m *machine) track(p *process) {
	m.mu.Lock()
	on, frozen := m.on, m.frozen
	if on {
		m.procs[p] = struct{}{}
	}
	m.mu.Unlock()
	switch {
	case !on:
		p.kill()
	case frozen:
		p.freeze(true)
	}
	m.background(func() {
		<-p.done
		m.mu.Lock()
		delete(m.procs, p)
		m.mu.Unlock()
	})
}

func (m *machine) named(name string) []*process {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []*process
	for p := range m.procs {
		if p.name == name {
			found = append(found, p)
		}
	}
	return found
}

// Spawn implements Host.
func (m *machine) Spawn(_ context.Context, name string, args ...string) error {
	if !m.running() {
		return fmt.Errorf("start %s: the machine is off", name)
	}
	p, err := m.h.exec.spawn(m, name, args, nil)
	if err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	m.track(p)
	return nil
}

// Kill implements Host.
func (m *machine) Kill(_ context.Context, name string) (int, error) {
	found := m.named(name)
	for _, p := range found {
		p.kill()
	}
	for _, p := range found {
		<-p.done
	}
	return len(found), nil
}

// Exec implements Host.
func (m *machine) Exec(ctx context.Context, c *Call) int { return m.h.exec.run(ctx, m, c) }

// Dial implements Host.
func (m *machine) Dial(ctx context.Context, ip string, port int) (net.Conn, error) {
	return m.h.fabric.Dial(ctx, m.origin(), ip, port)
}

func (m *machine) origin() fabric.Origin {
	from := fabric.Origin{Machine: m.id()}
	if m.h.opt.RouteTable != nil {
		from.RouteTable = m.h.opt.RouteTable(from.Machine)
	}
	return from
}

// Listen implements Host.
func (m *machine) Listen(port int, local bool) (net.Listener, error) {
	return m.h.fabric.Listen(m.id(), port, local)
}

// addressFile lists added addresses. It is in run: gone at the next boot.
const addressFile = "run/addresses"

// Address implements Host.
func (m *machine) Address(_ context.Context, ip string, add bool) error {
	if net.ParseIP(ip).To4() == nil {
		return fmt.Errorf("%q is no IPv4 address", ip)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	file := filepath.Join(m.root, addressFile)
	b, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	var kept []string
	known := false
	for _, a := range strings.Fields(string(b)) {
		known = known || a == ip
		if a != ip {
			kept = append(kept, a)
		}
	}
	switch {
	case add && known:
		return errors.New("RTNETLINK answers: File exists")
	case !add && !known:
		return errors.New("RTNETLINK answers: Cannot assign requested address")
	case add:
		kept = append(kept, ip)
		m.h.fabric.Bind(m.info.InstanceID, ip)
	default:
		m.h.fabric.Unbind(m.info.InstanceID, ip)
	}
	return os.WriteFile(file, []byte(strings.Join(kept, "\n")+"\n"), 0o644)
}

// env is what every program of the machine finds in its environment.
func (m *machine) env() []string {
	region := m.info.Region
	e := []string{
		"HADR_ROOT=" + m.root, "PATH=" + filepath.Join(m.root, "bin") + ":/usr/bin:/bin", "HOME=" + filepath.Join(m.root, "root"),
		"LANG=C.UTF-8", "AWS_REGION=" + region, "AWS_DEFAULT_REGION=" + region, "AWS_EC2_INSTANCE_ID=" + m.info.InstanceID,
	}
	if m.h.world.Endpoint != "" {
		e = append(e, "AWS_ENDPOINT_URL="+m.h.world.Endpoint)
	}
	return e
}
