package demo

import (
	"fmt"
	"slices"
)

// Row is a commit that is in a database's log.
type Row struct {
	Client   string
	Seq      int
	Position uint64
}

// Audit is what became of the acknowledged commits.
type Audit struct {
	Acknowledged int `json:"acknowledged"`
	// Lost are acknowledged and not in the surviving database.
	Lost int `json:"lost"`
	// Double are acknowledged twice, or stand twice in the database.
	Double int `json:"double"`
	// Forked are positions of the log that two nodes acknowledged for different
	// rows: two writers.
	Forked int `json:"forked"`
	// Examples name some of what is wrong.
	Examples []string `json:"examples,omitempty"`
}

// Clean reports whether nothing is wrong.
func (a Audit) Clean() bool { return a.Lost == 0 && a.Double == 0 && a.Forked == 0 }

const maxExamples = 5

func (a *Audit) example(format string, args ...any) {
	if len(a.Examples) < maxExamples {
		a.Examples = append(a.Examples, fmt.Sprintf(format, args...))
	}
}

// Judge compares what was acknowledged with what the surviving database holds.
func Judge(acks []Ack, survivor []Row) Audit {
	a := Audit{Acknowledged: len(acks)}
	stored := map[key]int{}
	for _, r := range survivor {
		stored[key{r.Client, r.Seq}]++
	}
	for k, n := range stored {
		if n > 1 {
			a.Double++
			a.example("%s/%d stands %d times in the database", k.client, k.seq, n)
		}
	}
	promised := map[key]Ack{}
	at := map[uint64]Ack{}
	for _, ack := range slices.SortedStableFunc(slices.Values(acks), func(x, y Ack) int { return x.At.Compare(y.At) }) {
		k := key{ack.Client, ack.Seq}
		if first, twice := promised[k]; twice {
			a.Double++
			a.example("%s/%d was acknowledged by %s and by %s", k.client, k.seq, first.Node, ack.Node)
		}
		promised[k] = ack
		if other, taken := at[ack.Position]; taken && other.Node != ack.Node {
			a.Forked++
			a.example("position %d was acknowledged by %s for %s/%d and by %s for %s/%d", ack.Position, other.Node, other.Client, other.Seq, ack.Node, ack.Client, ack.Seq)
		}
		at[ack.Position] = ack
		if stored[k] == 0 {
			a.Lost++
			a.example("%s/%d, acknowledged by %s at %s, is lost", k.client, k.seq, ack.Node, ack.At.UTC().Format("15:04:05.000Z"))
		}
	}
	return a
}
