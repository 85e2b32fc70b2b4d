//go:build !linux

package agent

import (
	"context"
	"errors"
)

// Netlink is the kernel interface of Linux.
type Netlink struct{}

var errNoNetlink = errors.New("addresses are bound on Linux only")

// Hold implements Endpoint.
func (Netlink) Hold(context.Context, string) error { return errNoNetlink }

// Release implements Endpoint.
func (Netlink) Release(context.Context, string) error { return errNoNetlink }
