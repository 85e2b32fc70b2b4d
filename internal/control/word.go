package control

import (
	"context"

	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// lastWord reports whether the operation on the record ends, such as one that was
// blocked and is cancelled, or is blocked now. Nobody goes on with it afterwards: a
// runner that saved that and died before it told would leave a history without an end, or a block that nobody hears of;
// one that told first and then lost the race for the record would have told what
// is not so. So the word is saved together with what it tells of.
func (w *work) lastWord() bool {
	was, is := w.persisted.Operation, w.state.Operation
	return was != nil && (is == nil || was.Blocked == "" && is.Blocked != "")
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

// keepStart puts the word of an operation that is not on the record yet on the
// state: whoever saves it may die, or find no history to write to, before it tells
// that it has started. Nor may the start of an operation be forgotten whose place it
// takes.
func (w *work) keepStart() {
	is, was := w.state.Operation, w.persisted.Operation
	if is == nil || was != nil && was.ID == is.ID {
		return
	}
	if is.Replaced != nil {
		is.Replaced.Start = w.persisted.Start
	}
	start := w.state.Begun()
	w.state.Start = &start
}

func final(e failover.Entry) bool { return e.Event == "ended" || e.Event == "blocked" }

// tellWord tells the last word that is on the record and takes it off. It may be
// told twice, which the history knows; if it stays, the next runner tells it. That
// the operation started is told before, if it was not; not while it runs, as a
// history that gives no answer must not hold it up.
func (w *work) tellWord(ctx context.Context) {
	start, word := w.state.Start, w.state.Word
	tellsStart := start != nil && w.persisted.Start != nil && !running(w.state)
	tellsWord := word != nil && w.persisted.Word != nil
	if !tellsStart && !tellsWord || tellsStart && !w.record(ctx, *start) {
		return
	}
	if tellsWord {
		if !w.record(ctx, *word) {
			return
		}
		w.notifyNow(ctx, *word) // who dies before it is told leaves it on the record
		w.state.Word = nil
	}
	if err := w.put(ctx); err != nil {
		w.log.Warn("taking a word off the record failed; the next look does it", "operation", w.last.OperationID, "epoch", w.last.Epoch, "error", err)
		w.state.Start, w.state.Word = start, word
	}
}
