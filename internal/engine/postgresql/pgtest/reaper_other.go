//go:build !linux

package pgtest

import "errors"

func reap(<-chan struct{}) error { return errors.New("the tests with real servers need Linux's /proc") }
