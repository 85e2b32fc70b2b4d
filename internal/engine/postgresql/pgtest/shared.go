package pgtest

import "sync"

// Variable turns the tests with real servers on: make test-postgresql.
const Variable = "HADR_TEST_POSTGRESQL"

var (
	shared *Template
	share  = sync.OnceValue(func() error {
		bin, err := Programs()
		if err != nil {
			return err
		}
		shared, err = New(bin)
		return err
	})
)

// Shared returns the template of all tests of a process, or says why there is
// none. CloseShared, in TestMain, removes it.
func Shared() (*Template, error) {
	err := share()
	return shared, err
}

// CloseShared removes the shared template, if there is one.
func CloseShared() {
	if shared != nil {
		shared.Close()
	}
}
