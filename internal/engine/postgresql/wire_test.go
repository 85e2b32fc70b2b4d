package postgresql

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// wire is a server that speaks the protocol and has no database
// (https://www.postgresql.org/docs/15/protocol-flow.html).
type wire struct {
	refuse *pgproto3.ErrorResponse // of each statement
	answer func(statement string) string
}

// refusing answers every statement with an error.
func refusing(code, message string) wire {
	return wire{refuse: &pgproto3.ErrorResponse{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: code, Message: message}}
}

// listen serves a socket until the test ends, and returns the root of a host
// that has it where settings expect it.
func (w wire) listen(t *testing.T, s Settings) (root string) {
	t.Helper()
	root, err := os.MkdirTemp("", "pg") //nolint:usetesting // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	if err := os.MkdirAll(root+s.Socket, 0o755); err != nil {
		t.Fatal(err)
	}
	w.accept(t, "unix", filepath.Join(root+s.Socket, ".s.PGSQL."+s.Port))
	return root
}

func (w wire) accept(t *testing.T, network, address string) net.Addr {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go w.serve(c)
		}
	}()
	return l.Addr()
}

func (w wire) serve(c net.Conn) {
	defer c.Close()
	b := pgproto3.NewBackend(c, c)
	if _, err := b.ReceiveStartupMessage(); err != nil {
		return
	}
	ready := &pgproto3.ReadyForQuery{TxStatus: 'I'}
	b.Send(&pgproto3.AuthenticationOk{})
	b.Send(&pgproto3.ParameterStatus{Name: "standard_conforming_strings", Value: "on"})
	b.Send(&pgproto3.ParameterStatus{Name: "client_encoding", Value: "UTF8"})
	b.Send(ready)
	for b.Flush() == nil {
		m, err := b.Receive()
		if err != nil {
			return
		}
		switch m := m.(type) {
		case *pgproto3.Parse:
			b.Send(&pgproto3.ParseComplete{})
		case *pgproto3.Describe:
			b.Send(&pgproto3.ParameterDescription{ParameterOIDs: []uint32{25}})
			b.Send(&pgproto3.NoData{})
		case *pgproto3.Bind:
			b.Send(&pgproto3.BindComplete{})
		case *pgproto3.Execute:
			w.reply(b, "UPDATE 1")
		case *pgproto3.Query:
			if w.refuse == nil {
				b.Send(&pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{{Name: []byte("answer"), DataTypeOID: 25, DataTypeSize: -1, TypeModifier: -1}}})
				b.Send(&pgproto3.DataRow{Values: [][]byte{[]byte(w.answer(m.String))}})
			}
			w.reply(b, "SELECT 1")
			b.Send(ready)
		case *pgproto3.Sync:
			b.Send(ready)
		}
	}
}

func (w wire) reply(b *pgproto3.Backend, tag string) {
	if w.refuse != nil {
		b.Send(w.refuse)
		return
	}
	b.Send(&pgproto3.CommandComplete{CommandTag: []byte(tag)})
}
