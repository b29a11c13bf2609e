package tarry

import (
	"context"
	"encoding/json"
	"time"
)

func (w *Worker) settleAll() {
	var waits backoff
	finished := w.finished // nil once it has been seen
	for {
		var batch []*settlement
		w.lock.Lock()
		if !w.claimTakesThem() {
			batch = w.book.settlements()
		}
		over := finished == nil && !w.book.isSettling()
		w.lock.Unlock()
		if over {
			return
		}
		if len(batch) == 0 {
			select {
			case <-w.settleNews:
			case <-finished:
				finished = nil
			}
			continue
		}
		items := make([]json.RawMessage, len(batch))
		for index, one := range batch {
			items[index] = one.item
		}
		results := w.asked(settleLane, items, w.client.timeout)
		w.lock.Lock()
		took, refused := w.book.settled(batch, results, elapsed())
		w.lock.Unlock()
		kick(w.roomNews)
		for _, err := range refused {
			w.client.log("settle", err)
		}
		if took {
			waits = backoff{}
		} else {
			time.Sleep(waits.next())
		}
	}
}

func (w *Worker) extendAll() {
	for {
		w.lock.Lock()
		now := elapsed()
		for _, one := range w.book.overdue(now) {
			signalLost(one)
		}
		batch := w.book.extensions(now)
		next := w.book.nextLook()
		left := w.client.timeout
		for _, one := range batch {
			if one.end-now < left {
				left = one.end - now
			}
		}
		w.lock.Unlock()
		if len(batch) > 0 {
			w.extend(batch, left)
			continue
		}
		var timer <-chan time.Time
		if next != never {
			timer = time.After(next - now)
		}
		select {
		case <-w.extendNews:
		case <-timer:
		case <-w.finished:
			return
		}
	}
}

// extend asks for no longer than the leases hold, so that handlers are told in time.
func (w *Worker) extend(batch []*held, left time.Duration) {
	if left < 100*time.Millisecond {
		left = 100 * time.Millisecond
	}
	items := make([]json.RawMessage, len(batch))
	for index, one := range batch {
		items[index] = ExtendItem{one.message.Receipt, w.options.Lease}.item()
	}
	sent := elapsed()
	results := w.asked(extendLane, items, left)
	w.lock.Lock()
	defer w.lock.Unlock()
	for _, one := range w.book.extended(batch, results, sent, elapsed()) {
		if one.delivery != nil {
			signalLost(one)
			continue
		}
		for index, waiting := range w.waiting {
			if waiting == one {
				w.waiting = append(w.waiting[:index:index], w.waiting[index+1:]...)
				w.book.end(one, Release())
				break
			}
		}
	}
	kick(w.roomNews)
}

func signalLost(one *held) {
	one.delivery.signal()
	one.delivery.cancel()
}

// asked sends a batch once, and makes an error of the whole that of each item.
func (w *Worker) asked(l lane, items []json.RawMessage, timeout time.Duration) []Result[SettleResult] {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	results := make([]Result[SettleResult], len(items))
	read := answers{count: len(items)}
	_, failed := w.client.try(ctx, l.call(items), &read)
	for index := range results {
		if failed != nil {
			results[index].Err = failed
		} else {
			results[index].Value, results[index].Err = readItem[SettleResult](read.results[index])
		}
	}
	return results
}
