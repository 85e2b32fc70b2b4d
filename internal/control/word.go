package control

import (
	"context"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// lastWord reports whether the operation on the record ends or is blocked now.
// Nobody goes on with it afterwards: a runner that saved that and died before it
// told would leave a history without an end, or a block that nobody hears of;
// one that told first and then lost the race for the record would have told what
// is not so. So the word is saved together with what it tells of.
func (w *work) lastWord() bool {
	was, is := w.persisted.Operation, w.state.Operation
	return was != nil && was.Blocked == "" && (is == nil || is.Blocked != "")
}

// keepWord puts the last word on the state and returns the other effects.
func (w *work) keepWord(effects []failover.Effect) (rest []failover.Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case failover.Record:
			if final(e.Entry) {
				w.state.Word = &e.Entry
				continue
			}
		case failover.Notify:
			if final(e.Entry) {
				continue
			}
		}
		rest = append(rest, e)
	}
	return rest
}

func final(e failover.Entry) bool { return e.Event == "ended" || e.Event == "blocked" }

// tellWord tells the last word that is on the record and takes it off. It may be
// told twice, which the history knows; if it stays, the next runner tells it.
func (w *work) tellWord(ctx context.Context) {
	word := w.state.Word
	if word == nil || w.persisted.Word == nil {
		return
	}
	if !w.record(ctx, *word) {
		return
	}
	w.notify(ctx, *word)
	w.state.Word = nil
	if err := w.put(ctx); err != nil {
		w.log.Warn("taking the last word off the record failed; the next look does it", "operation", word.OperationID, "epoch", word.Epoch, "error", err)
		w.state.Word = word
	}
}
