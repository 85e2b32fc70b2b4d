//go:build !linux

package postgresql

import "errors"

var errNoProcesses = errors.New("a server can be fenced on Linux only")

func serverProcesses(string) ([]int, error) { return nil, errNoProcesses }

func killProcesses([]int) error { return errNoProcesses }
