package tarry

import (
	"encoding/json"
	"errors"
	"time"
)

// book is the lease protocol of a worker. It does no I/O and reads no clock; the worker locks it.
//
//   - A lease counts from before its claim or its extension was sent, so never for longer than it
//     does in the store. It is extended after a third of its length. If the server is away, the
//     extension is tried again after a tenth of that length, at most 1 s later.
//   - Settlements that gather while a request with settlements is under way go together in the
//     next: in the next claim, if one is about to be sent. If the answer is lost, or the server is away, they are sent again while the lease holds; after
//     a stop, for 10 s. The verdict stays the same, so a repeat does no harm.
//   - A claim that is lost is neither extended nor settled.
type book struct {
	held      map[string]*held
	counts    Counts
	outbox    []*settlement
	settling  bool
	alone     bool          // a server has refused settlements in a claim
	stoppedAt time.Duration // 0: not stopped
}

// Counts say how deliveries ended. Stale: the claim had ended before it was settled.
type Counts struct {
	Delivered int64 `json:"delivered"`
	Acked     int64 `json:"acked"`
	Retried   int64 `json:"retried"`
	Buried    int64 `json:"buried"`
	Released  int64 `json:"released"`
	Stale     int64 `json:"stale"`
}

func (c *Counts) ended(action string) {
	switch action {
	case "ack":
		c.Acked++
	case "retry":
		c.Retried++
	case "bury":
		c.Buried++
	default:
		c.Released++
	}
}

// held is a claim that is held. Times are those of elapsed.
type held struct {
	message   Claimed
	end       time.Duration
	extendAt  time.Duration
	extending bool
	lost      bool
	delivery  *Delivery // nil until a handler begins
}

const never = time.Duration(1<<63 - 1)

func (h *held) leaseFrom(begun time.Duration) {
	h.end = begun + h.message.Lease()
	h.extendAt = begun + h.message.Lease()/3
}

type settlement struct {
	held   *held
	action string
	item   json.RawMessage
}

const (
	maxWorkerItems = 1000
	settleAfterEnd = 10 * time.Second
)

func (b *book) hold(message Claimed, begun time.Duration) *held {
	one := &held{message: message}
	one.leaseFrom(begun)
	b.held[message.Receipt] = one
	return one
}

func (b *book) end(one *held, verdict Verdict) {
	delete(b.held, one.message.Receipt)
	if one.lost {
		b.counts.Stale++
		return
	}
	b.outbox = append(b.outbox,
		&settlement{one, verdict.action, verdict.item(one.message.Receipt)})
}

func (b *book) isSettling() bool { return b.settling || len(b.outbox) > 0 }

// settlements are those to send now, in one request; settled follows. None while a request with
// settlements is under way.
func (b *book) settlements() []*settlement {
	if b.settling {
		return nil
	}
	count := len(b.outbox)
	if count > maxWorkerItems {
		count = maxWorkerItems
	}
	batch := b.outbox[:count:count]
	b.outbox = b.outbox[count:]
	b.settling = count > 0
	return batch
}

// settled reports whether the server took them, and what it refused.
func (b *book) settled(batch []*settlement, results []Result[SettleResult], now time.Duration) (
	took bool, refused []error) {
	b.settling = false
	took = true
	var again []*settlement
	for index, one := range batch {
		err := results[index].Err
		switch {
		case err != nil && isPassing(err):
			took = false
			if b.mayRepeat(one, now) {
				again = append(again, one)
				continue
			}
			b.counts.Stale++
		case err != nil:
			b.counts.Stale++
			refused = append(refused, err)
		case results[index].Value.Outcome == Done:
			b.counts.ended(one.action)
		default:
			b.counts.Stale++
		}
	}
	b.outbox = append(again, b.outbox...)
	return took, refused
}

// joined are the settlements that go with the claim that is sent now; claimed follows.
func (b *book) joined() []*settlement {
	if b.alone {
		return nil
	}
	return b.settlements()
}

// claimed notes what became of the settlements that went with a claim. The error is that of the
// claim itself.
func (b *book) claimed(batch []*settlement, answer claimed, failed error, now time.Duration) (
	refused []error, err error) {
	switch {
	case failed == nil && len(batch) > 0:
		took, refused := b.settled(batch, answer.settled, now)
		if answer.failed == nil && !took {
			return refused, passingOf(answer.settled)
		}
		return refused, answer.failed
	case failed == nil:
		return nil, answer.failed
	case errors.Is(failed, ErrUnknownOutcome) && len(batch) > 0:
		results := make([]Result[SettleResult], len(batch))
		for index := range results {
			results[index].Err = failed
		}
		_, refused = b.settled(batch, results, now)
		return refused, failed
	case len(batch) > 0:
		b.settling = false
		b.outbox = append(batch, b.outbox...)
		if errors.Is(failed, ErrInvalid) {
			b.alone = true // an older server: the next claim goes alone
			return nil, nil
		}
	}
	return nil, failed
}

func passingOf(results []Result[SettleResult]) error {
	for _, one := range results {
		if one.Err != nil && isPassing(one.Err) {
			return one.Err
		}
	}
	return nil
}

func (b *book) mayRepeat(one *settlement, now time.Duration) bool {
	if b.stoppedAt != 0 && now > b.stoppedAt+settleAfterEnd {
		return false
	}
	return now < one.held.end
}

// extensions are the claims to extend now, in one request; extended follows.
func (b *book) extensions(now time.Duration) []*held {
	var due []*held
	for _, one := range b.held {
		if !one.extending && !one.lost && one.extendAt <= now && len(due) < maxWorkerItems {
			one.extending = true
			due = append(due, one)
		}
	}
	return due
}

// extended returns the claims that are lost from now on.
func (b *book) extended(batch []*held, results []Result[SettleResult], sent, now time.Duration) []*held {
	var lost []*held
	for index, one := range batch {
		one.extending = false
		err := results[index].Err
		switch {
		case err != nil && isPassing(err):
			pause := one.message.Lease() / 10
			if pause > time.Second {
				pause = time.Second
			}
			one.extendAt = now + pause
		case err != nil: // the store has no extensions, and the lease ends in its time
			one.extendAt = never
		case results[index].Value.Outcome == Done:
			one.leaseFrom(sent)
		case !one.lost:
			one.lost = true
			lost = append(lost, one)
		}
	}
	return lost
}

// overdue are begun deliveries whose leases have ended because the server did not answer. Each is
// told once.
func (b *book) overdue(now time.Duration) []*held {
	var over []*held
	for _, one := range b.held {
		if one.delivery != nil && !one.lost && one.end <= now {
			one.lost = true
			over = append(over, one)
		}
	}
	return over
}

// nextLook is when extensions or overdue have something to say, or never.
func (b *book) nextLook() time.Duration {
	next := never
	for _, one := range b.held {
		if one.lost {
			continue
		}
		if one.delivery != nil && one.end < next {
			next = one.end
		}
		if !one.extending && one.extendAt < next {
			next = one.extendAt
		}
	}
	return next
}

// verdictOf is what a handler decided by what it returned.
func verdictOf(err error) Verdict {
	var decided Verdict
	switch {
	case err == nil:
		return Ack()
	case errors.As(err, &decided) && decided.action != "":
		return decided
	default:
		return Retry(err.Error())
	}
}
