package tarry

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

func (w *Worker) handleAll(base context.Context) {
	for {
		one := w.begin()
		if one == nil {
			return
		}
		ctx := WithTrace(base, Trace{one.message.Headers["traceparent"],
			one.message.Headers["tracestate"]})
		ctx, cancel := context.WithCancel(ctx)
		w.lock.Lock()
		one.delivery.cancel = cancel
		if one.lost {
			cancel()
		}
		w.lock.Unlock()
		err := w.client.handle(ctx, w.handlers[one.delivery.Queue], one.delivery)
		cancel()
		w.lock.Lock()
		w.book.end(one, verdictOf(err))
		empty := len(w.waiting) == 0
		w.lock.Unlock()
		kick(w.settleNews)
		if empty {
			kick(w.roomNews)
		}
	}
}

// begin waits for the next delivery; nil after a stop.
func (w *Worker) begin() *held {
	w.lock.Lock()
	defer w.lock.Unlock()
	for {
		for len(w.waiting) == 0 && !w.stopped {
			w.work.Wait()
		}
		if w.stopped {
			return nil
		}
		one := w.waiting[0]
		w.waiting = w.waiting[1:]
		if len(w.waiting) <= w.options.Prefetch/2 {
			kick(w.roomNews)
		}
		if one.lost || elapsed() >= one.end {
			w.book.end(one, Release())
			kick(w.settleNews)
			continue
		}
		one.delivery = &Delivery{Claimed: one.message, stop: make(chan struct{}),
			cancel: func() {}}
		w.book.counts.Delivered++
		kick(w.extendNews)
		return one
	}
}

// handle calls a handler, in a span if the client has a tracer. A verdict is no error of the span.
func (c *Client) handle(ctx context.Context, handler Handler, delivery *Delivery) (err error) {
	end := func(error) {}
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v", panicked)
			c.log("a handler of "+delivery.Queue+" panicked",
				fmt.Errorf("%v\n%s", panicked, debug.Stack()))
		}
		if errors.As(err, &Verdict{}) {
			end(nil)
		} else {
			end(err)
		}
	}()
	if c.tracer != nil {
		ctx, end = c.tracer.Handle(ctx, delivery)
	}
	return handler(ctx, delivery)
}
