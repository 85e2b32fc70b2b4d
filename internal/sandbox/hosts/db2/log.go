package db2

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// origin is the log position of the first byte of a log: a database that was
// just restored from a backup.
const origin = 48_912_046

// Pages and files only decorate db2pd's output.
const (
	pageSize = 4096
	filePags = 13000 // LOGFILSIZ
)

var crcTable = crc64.MakeTable(crc64.ECMA)

// record is one line of the log: "<unix seconds> <kind> <fields...>".
type record struct {
	at     int64
	kind   recordKind
	fields []string
}

type recordKind string

const (
	commitRecord     recordKind = "C" // client, sequence
	updateRecord     recordKind = "U" // table, row, sequence
	activateRecord   recordKind = "A"
	deactivateRecord recordKind = "D"
	takeoverRecord   recordKind = "T"
)

func (r record) encode() []byte {
	b := strconv.AppendInt(nil, r.at, 10)
	b = append(b, ' ')
	b = append(b, r.kind...)
	for _, f := range r.fields {
		b = append(b, ' ')
		b = append(b, f...)
	}
	return append(b, '\n')
}

func decodeRecord(line string) (record, bool) {
	f := strings.Fields(line)
	if len(f) < 2 {
		return record{}, false
	}
	at, err := strconv.ParseInt(f[0], 10, 64)
	if err != nil {
		return record{}, false
	}
	return record{at: at, kind: recordKind(f[1]), fields: f[2:]}, true
}

// logFile is the transaction log of one database on its machine's disk.
// Nothing is synced: the sandbox loses processes, never its own disk.
type logFile struct {
	mu   sync.Mutex
	f    *os.File
	size int64
	sum  uint64 // of the whole file
}

// openLog opens a log and drops a torn last record, calling each for every
// record that is left.
func openLog(file string, each func(record)) (*logFile, error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	l := &logFile{f: f}
	r := bufio.NewReaderSize(f, 1<<16)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				break
			}
			_ = f.Close()
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		l.size += int64(len(line))
		l.sum = crc64.Update(l.sum, crcTable, line)
		if rec, ok := decodeRecord(string(line)); ok {
			each(rec)
		}
	}
	if err := f.Truncate(l.size); err != nil {
		_ = f.Close()
		return nil, err
	}
	return l, nil
}

func (l *logFile) close() error { return l.f.Close() }

// end is the position behind the last record.
func (l *logFile) end() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return origin + l.size
}

func (l *logFile) append(b []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.f.WriteAt(b, l.size); err != nil {
		return fmt.Errorf("write the log: %w", err)
	}
	l.size += int64(len(b))
	l.sum = crc64.Update(l.sum, crcTable, b)
	return nil
}

// read returns whole records from a position on, up to limit bytes.
func (l *logFile) read(from int64, limit int) ([]byte, error) {
	l.mu.Lock()
	n := min(int64(limit), origin+l.size-from)
	l.mu.Unlock()
	if n <= 0 {
		return nil, nil
	}
	b := make([]byte, n)
	if _, err := l.f.ReadAt(b, from-origin); err != nil {
		return nil, err
	}
	return b[:bytes.LastIndexByte(b, '\n')+1], nil
}

// checksum covers everything before a position.
func (l *logFile) checksum(upTo int64) (uint64, error) {
	l.mu.Lock()
	size, sum := l.size, l.sum
	l.mu.Unlock()
	if upTo-origin == size {
		return sum, nil
	}
	h := crc64.New(crcTable)
	_, err := io.Copy(h, io.NewSectionReader(l.f, 0, upTo-origin))
	return h.Sum64(), err
}

// truncate drops everything from a position on.
func (l *logFile) truncate(at int64) error {
	sum, err := l.checksum(at)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.f.Truncate(at - origin); err != nil {
		return err
	}
	l.size, l.sum = at-origin, sum
	return nil
}

// place renders a position as db2pd does: file, page, position.
func place(pos int64) string {
	pages := (pos - origin) / pageSize
	return fmt.Sprintf("S%07d.LOG, %d, %d", 1+pages/filePags, pages%filePags, pos)
}

// Row is a committed transaction of the load generator.
type Row struct {
	Client   string
	Seq      int64
	Position int64 // behind its record
	At       time.Time
}

// Rows reads every committed transaction in the log of a database from the
// machine's disk: of any role, running or not.
func Rows(l Layout, database string) ([]Row, error) {
	b, err := os.ReadFile(l.logFile(database))
	if err != nil {
		return nil, err
	}
	var rows []Row
	pos := int64(origin)
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			break // torn
		}
		pos += int64(i + 1)
		if r, ok := decodeRecord(string(b[:i])); ok && r.kind == commitRecord && len(r.fields) == 2 {
			seq, err := strconv.ParseInt(r.fields[1], 10, 64)
			if err == nil {
				rows = append(rows, Row{Client: r.fields[0], Seq: seq, Position: pos, At: time.Unix(r.at, 0).UTC()})
			}
		}
		b = b[i+1:]
	}
	return rows, nil
}

// decodeRecords decodes whole records.
func decodeRecords(b []byte) []record {
	var out []record
	for line := range strings.Lines(string(b)) {
		if r, ok := decodeRecord(line); ok {
			out = append(out, r)
		}
	}
	return out
}
