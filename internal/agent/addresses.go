package agent

import (
	"context"
	"fmt"
	"strings"
)

// Addresses binds addresses with ip(8) on the loopback interface: there they
// answer on every interface, whatever its name, and are gone after a reboot.
type Addresses struct {
	Shell interface {
		Run(ctx context.Context, script string) (output string, code int, err error)
	}
}

// Hold implements Endpoint.
func (a Addresses) Hold(ctx context.Context, ip string) error {
	return a.change(ctx, ip, false, "add")
}

// Release implements Endpoint.
func (a Addresses) Release(ctx context.Context, ip string) error {
	return a.change(ctx, ip, true, "del")
}

// change runs ip addr add or del unless the address is as it should be. ip was
// checked when it was declared, and is checked here again.
func (a Addresses) change(ctx context.Context, ip string, bound bool, verb string) error {
	if strings.Trim(ip, "0123456789.") != "" {
		return fmt.Errorf("%q is no IPv4 address", ip)
	}
	output, err := a.run(ctx, "ip addr show")
	if err != nil {
		return fmt.Errorf("reading the addresses: %w", err)
	}
	if strings.Contains(output, " inet "+ip+"/") != bound {
		return nil
	}
	_, err = a.run(ctx, "ip addr "+verb+" "+ip+"/32 dev lo")
	return err
}

// run runs a command, of which any code but 0 is an error.
func (a Addresses) run(ctx context.Context, command string) (output string, err error) {
	output, code, err := a.Shell.Run(ctx, command)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", command, err)
	case code != 0:
		return "", fmt.Errorf("%s: code %d: %s", command, code, strings.TrimSpace(output))
	}
	return output, nil
}
