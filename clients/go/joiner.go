package tarry

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
)

const (
	maxJoinedItems = 1000
	maxJoinedBytes = 4 << 20
)

// joiner lets single calls of many goroutines go together. The first call of a lane is sent at
// once. Calls that come while this request is under way wait, and go together in the next one. So a
// call waits for nobody when it is alone, and many calls cost few requests. Thread safe.
type joiner struct {
	send  func(context.Context, lane, []json.RawMessage) ([]itemResult, error)
	lock  sync.Mutex
	lanes map[lane][]*joined // there: a request is under way
}

type joined struct {
	item json.RawMessage
	sent bool // guarded by the joiner's lock
	done chan itemResult
}

// ask waits for the item's result. If the context ends first, the error says whether the item may
// have been carried out.
func (j *joiner) ask(ctx context.Context, l lane, item json.RawMessage) (itemResult, error) {
	if err := ctx.Err(); err != nil {
		return itemResult{}, &Error{Code: "unavailable", Message: "not sent: " + err.Error(), cause: err}
	}
	mine := &joined{item: item, done: make(chan itemResult, 1)}
	j.lock.Lock()
	waiting, busy := j.lanes[l]
	j.lanes[l] = append(waiting, mine)
	j.lock.Unlock()
	if !busy {
		go j.serve(l)
	}
	select {
	case result := <-mine.done:
		return result, result.err
	case <-ctx.Done():
	}
	failed := &Error{Code: "unknown_outcome", Message: "the answer was not waited for: " +
		ctx.Err().Error(), cause: ctx.Err()}
	j.lock.Lock()
	defer j.lock.Unlock()
	if !mine.sent {
		failed.Code, failed.Message = "unavailable", "not sent: "+ctx.Err().Error()
		for index, one := range j.lanes[l] {
			if one == mine {
				j.lanes[l] = append(j.lanes[l][:index:index], j.lanes[l][index+1:]...)
			}
		}
	}
	return itemResult{}, failed
}

// serve sends requests of a lane until nobody waits there.
func (j *joiner) serve(l lane) {
	for {
		batch := j.take(l)
		if len(batch) == 0 {
			return
		}
		items := make([]json.RawMessage, len(batch))
		for index, one := range batch {
			items[index] = one.item
		}
		for index, result := range j.results(l, items) {
			batch[index].done <- result
		}
	}
}

func (j *joiner) take(l lane) []*joined {
	j.lock.Lock()
	defer j.lock.Unlock()
	waiting := j.lanes[l]
	if len(waiting) == 0 {
		delete(j.lanes, l)
		return nil
	}
	size, count := 0, 0
	for count < len(waiting) && count < maxJoinedItems {
		size += len(waiting[count].item)
		if count > 0 && size > maxJoinedBytes {
			break
		}
		waiting[count].sent = true
		count++
	}
	j.lanes[l] = waiting[count:]
	return waiting[:count]
}

func (j *joiner) results(l lane, items []json.RawMessage) []itemResult {
	results, err := j.send(context.Background(), l, items)
	if err == nil {
		return results
	}
	results = make([]itemResult, len(items))
	for index := range items {
		results[index].err = err
		// The request as a whole was refused, and nothing was done: one of the items is at fault.
		if len(items) > 1 && errors.Is(err, ErrInvalid) {
			results[index] = j.results(l, items[index:index+1])[0]
		}
	}
	return results
}
