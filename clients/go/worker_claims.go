package tarry

import (
	"context"
	"encoding/json"
	"time"
)

func (w *Worker) claimAll() {
	var waits backoff
	for {
		room := w.room()
		if room == 0 {
			return
		}
		after, err := w.claim(room)
		if err == nil {
			waits = backoff{}
			continue
		}
		if w.claims.Err() != nil {
			return
		}
		if !isPassing(err) {
			w.lock.Lock()
			w.failure = err
			w.lock.Unlock()
			w.Stop()
			return
		}
		w.client.log("claim", err)
		pause := waits.next()
		if after > pause {
			pause = after
		}
		select {
		case <-w.stopping:
			return
		case <-time.After(pause):
		}
	}
}

// room waits until there is room for more; 0 after a stop.
func (w *Worker) room() int {
	for {
		w.lock.Lock()
		w.claimIdle = true
		room, stopped := w.space(), w.stopped
		w.lock.Unlock()
		if stopped {
			return 0
		}
		if room > 0 {
			return room
		}
		select {
		case <-w.roomNews:
		case <-w.stopping:
		}
	}
}

// space is how many messages to claim now.
func (w *Worker) space() int {
	if len(w.waiting) > w.options.Prefetch/2 {
		return 0
	}
	return w.options.Concurrency + w.options.Prefetch - len(w.book.held)
}

// claimTakesThem tells whether the next claim is about to be sent, and takes the settlements with it.
func (w *Worker) claimTakesThem() bool {
	takes := w.claimIdle && !w.book.alone && !w.stopped && len(w.book.outbox) > 0 && w.space() > 0
	if takes {
		kick(w.roomNews)
	}
	return takes
}

func (w *Worker) claim(room int) (time.Duration, error) {
	given := []ClaimOption{Max(room)}
	if w.options.Lease != 0 {
		given = append(given, Lease(w.options.Lease))
	}
	w.lock.Lock()
	if w.stopped {
		w.lock.Unlock()
		return -1, nil
	}
	batch := w.book.joined()
	w.claimIdle = false
	w.lock.Unlock()
	ctx := context.Background() // A claim that settles does not wait, so a stop need not end it.
	if len(batch) == 0 {
		ctx = w.claims
		given = append(given, Wait(claimWait))
	} else {
		given = append(given, settleFirst(batch))
	}
	answer := claimed{count: len(batch)}
	sent := elapsed()
	after, failed := w.client.try(ctx, claimCall(w.queues, given), &answer)
	return after, w.claimed(batch, answer, failed, sent)
}

func settleFirst(batch []*settlement) ClaimOption {
	items := make([]json.RawMessage, len(batch))
	for index, one := range batch {
		items[index] = one.item
	}
	return func(_ *call, body fields) { body["settle"] = items }
}

// claimed takes an answer; the error is that of the claim.
func (w *Worker) claimed(batch []*settlement, answer claimed, failed *Error, sent time.Duration) error {
	var cause error
	if failed != nil {
		cause = failed
	}
	begun := elapsed()
	if answer.waitedMS != nil && *answer.waitedMS >= 0 {
		begun = sent + time.Duration(*answer.waitedMS)*time.Millisecond
	}
	w.lock.Lock()
	refused, err := w.book.claimed(batch, answer, cause, elapsed())
	w.took(answer, begun)
	w.claimIdle = err == nil
	w.lock.Unlock()
	kick(w.settleNews)
	for _, one := range refused {
		w.client.log("settle", one)
	}
	return err
}

func (w *Worker) took(answer claimed, begun time.Duration) {
	for _, message := range answer.messages {
		one := w.book.hold(message, begun)
		if w.stopped {
			w.book.end(one, Release())
		} else {
			w.waiting = append(w.waiting, one)
		}
	}
	if len(answer.messages) > 0 {
		w.work.Broadcast()
		kick(w.extendNews)
	}
}
