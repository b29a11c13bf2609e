package drive

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

type rateTold struct {
	Lives   int64   `json:"lives"`
	Seconds float64 `json:"seconds"`
	All     int64   `json:"all"` // those while the client warmed up too
}

type lateTold struct {
	Messages int     `json:"messages"`
	P50      float64 `json:"p50_ms"`
	P99      float64 `json:"p99_ms"`
	Max      float64 `json:"max_ms"`
}

type fillTold struct {
	Filled int `json:"filled"`
}

// payload is a message that says when it is due.
func payload(due time.Time) []byte {
	text := strconv.AppendInt(make([]byte, 0, payloadBytes), due.UnixMicro(), 10)
	text = append(text, ' ')
	return append(text, bytes.Repeat([]byte("x"), payloadBytes-len(text))...)
}

func lateness(payload []byte, now time.Time) (time.Duration, error) {
	word, _, _ := bytes.Cut(payload, []byte(" "))
	due, err := strconv.ParseInt(string(word), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("another message: %q", payload)
	}
	return now.Sub(time.UnixMicro(due)), nil
}

func many(count int, due time.Time) [][]byte {
	payloads := make([][]byte, count)
	for index := range payloads {
		payloads[index] = payload(due)
	}
	return payloads
}

func rate(rival Rival, window time.Duration, batch int) rateTold {
	outstanding := make(chan struct{}, mostOutstanding)
	var pushed, settled atomic.Int64
	news := make(chan struct{}, 1)
	Check(rival.Consume(batch, func([]byte) {
		settled.Add(1)
		select {
		case <-outstanding:
		default: // delivered twice
		}
		select {
		case news <- struct{}{}:
		default:
		}
	}))
	begin := time.Now()
	warmAt, warm := begin, make(chan int64, 1)
	time.AfterFunc(window/warmPart, func() {
		warmAt = time.Now()
		warm <- settled.Load()
	})
	inTurns(rival, func(push Push) {
		for time.Since(begin) < window {
			for range batch {
				outstanding <- struct{}{}
			}
			Check(push(many(batch, time.Now()), 0))
			pushed.Add(int64(batch))
		}
	})
	limit := time.After(longestDrain)
	for settled.Load() < pushed.Load() {
		select {
		case <-news:
		case <-limit:
			Check(fmt.Errorf("%d of %d messages came", settled.Load(), pushed.Load()))
		}
	}
	before := <-warm
	return rateTold{pushed.Load() - before, time.Since(warmAt).Seconds(), pushed.Load()}
}

func late(rival Rival, window time.Duration, aSecond float64) lateTold {
	pace := time.Duration(Clients / aSecond * float64(time.Second))
	each := int(window / pace)
	var lock sync.Mutex
	var all []float64
	done := make(chan struct{})
	Check(rival.Consume(1, func(payload []byte) {
		by, err := lateness(payload, time.Now())
		Check(err)
		lock.Lock()
		defer lock.Unlock()
		all = append(all, by.Seconds()*1e3)
		if len(all) == each*Clients {
			close(done)
		}
	}))
	var producers atomic.Int64
	begin := time.Now()
	inTurns(rival, func(push Push) {
		// The producers take turns; they do not push all at the same moment.
		next := begin.Add(pace / Clients * time.Duration(producers.Add(1)))
		for range each {
			time.Sleep(time.Until(next))
			Check(push([][]byte{payload(time.Now().Add(lateDelay))}, lateDelay))
			next = next.Add(pace)
		}
	})
	select {
	case <-done:
	case <-time.After(longestDrain):
	}
	lock.Lock()
	defer lock.Unlock()
	if len(all) < each*Clients {
		Check(fmt.Errorf("%d of %d messages came", len(all), each*Clients))
	}
	slices.Sort(all)
	return lateTold{len(all), all[len(all)/2], all[len(all)*99/100], all[len(all)-1]}
}

func fill(rival Rival, count int, delay time.Duration) fillTold {
	var begun atomic.Int64
	inTurns(rival, func(push Push) {
		for {
			left := int64(count) - begun.Add(fillBatch) + fillBatch
			if left <= 0 {
				return
			}
			Check(push(many(int(min(left, fillBatch)), time.Now().Add(delay)), delay))
		}
	})
	return fillTold{count}
}
