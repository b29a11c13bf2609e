package tarry

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// WorkerOptions are properties of a worker. Zero values stand for the defaults.
type WorkerOptions struct {
	Concurrency int           // handlers at once, 1 to 1024; the default is 4
	Prefetch    int           // messages claimed ahead, up to 8976; the default is 64
	NoPrefetch  bool          // claims none ahead
	Lease       time.Duration // the default is the queue's
	Drain       time.Duration // for how long a stop waits for handlers; the default is no limit
}

// Worker claims due messages and runs a handler for each.
//
// It begins no delivery after its lease, extends leases in batches, and waits with backoff while the
// server is away. When it stops, it withdraws its claim, gives back what was not begun, and lets
// handlers finish.
type Worker struct {
	client   *Client
	options  WorkerOptions
	handlers map[string]Handler
	queues   []string

	lock       sync.Mutex
	book       book
	waiting    []*held
	stopped    bool
	ran        bool
	failure    error
	claimIdle  bool // the next claim is sent as soon as there is room
	work       *sync.Cond
	stopping   chan struct{} // closed by stop
	finished   chan struct{} // closed when nothing more is to be settled
	roomNews   chan struct{}
	settleNews chan struct{}
	extendNews chan struct{}
	withdraw   context.CancelFunc
	claims     context.Context
}

const claimWait = 20 * time.Second

// NewWorker makes a worker; Handle gives it handlers, Run runs it.
func (c *Client) NewWorker(options WorkerOptions) (*Worker, error) {
	if options.Concurrency == 0 {
		options.Concurrency = 4
	}
	if options.Prefetch == 0 && !options.NoPrefetch {
		options.Prefetch = 64
	}
	for _, one := range []struct {
		name               string
		value, least, most int
	}{{"Concurrency", options.Concurrency, 1, 1024}, {"Prefetch", options.Prefetch, 0, 8976}} {
		if one.value < one.least || one.value > one.most {
			return nil, &Error{Code: "invalid_argument", Message: fmt.Sprintf(
				"%s %d must be from %d to %d", one.name, one.value, one.least, one.most)}
		}
	}
	w := &Worker{client: c, options: options, handlers: map[string]Handler{},
		book: book{held: map[string]*held{}}, stopping: make(chan struct{}),
		finished: make(chan struct{}), roomNews: make(chan struct{}, 1),
		settleNews: make(chan struct{}, 1), extendNews: make(chan struct{}, 1)}
	w.work = sync.NewCond(&w.lock)
	w.claims, w.withdraw = context.WithCancel(context.Background())
	return w, nil
}

// Handle sets the handler of a queue, before Run.
func (w *Worker) Handle(queue string, handler Handler) {
	if w.handlers[queue] == nil {
		w.queues = append(w.queues, queue)
	}
	w.handlers[queue] = handler
}

// Counts say how deliveries have ended so far.
func (w *Worker) Counts() Counts {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.book.counts
}

// Stop asks the worker to stop, and does not wait.
func (w *Worker) Stop() {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.stopped {
		return
	}
	w.stopped = true
	w.book.stoppedAt = elapsed()
	close(w.stopping)
	w.withdraw()
	for _, one := range w.book.held {
		if one.delivery != nil {
			one.delivery.signal()
		}
	}
	for _, one := range w.waiting {
		w.book.end(one, Release())
	}
	w.waiting = nil
	w.work.Broadcast()
	kick(w.settleNews)
}

func kick(news chan struct{}) {
	select {
	case news <- struct{}{}:
	default:
	}
}

// Run works until the context ends or Stop, then drains. A worker runs once. The error is why the
// server became unusable, such as a token that lacks a scope.
func (w *Worker) Run(ctx context.Context) (Counts, error) {
	w.lock.Lock()
	ran := w.ran
	w.ran = true
	w.lock.Unlock()
	if ran || len(w.queues) == 0 {
		return Counts{}, &Error{Code: "misuse",
			Message: "a worker needs a handler for at least one queue, and runs once"}
	}
	// Handlers keep the values of the context, but a stop does not end them.
	base, cancelHandlers := context.WithCancel(withoutCancel{ctx})
	defer cancelHandlers()
	var handlers, services sync.WaitGroup
	for number := 0; number < w.options.Concurrency; number++ {
		handlers.Add(1)
		go func() { defer handlers.Done(); w.handleAll(base) }()
	}
	for _, service := range []func(){w.claimAll, w.settleAll, w.extendAll} {
		services.Add(1)
		go func(service func()) { defer services.Done(); service() }(service)
	}
	select {
	case <-ctx.Done():
		w.Stop()
	case <-w.stopping:
	}
	drained := make(chan struct{})
	go func() { handlers.Wait(); close(drained) }()
	var limit <-chan time.Time
	if w.options.Drain > 0 {
		limit = time.After(w.options.Drain)
	}
	select {
	case <-drained:
	case <-limit:
		cancelHandlers()
	}
	close(w.finished)
	services.Wait()
	return w.Counts(), w.failure
}

// withoutCancel has the values of a context, and no end (context.WithoutCancel is of Go 1.21).
type withoutCancel struct{ of context.Context }

func (withoutCancel) Deadline() (time.Time, bool) { return time.Time{}, false }
func (withoutCancel) Done() <-chan struct{}       { return nil }
func (withoutCancel) Err() error                  { return nil }
func (w withoutCancel) Value(key any) any         { return w.of.Value(key) }

// Work serves one queue until the context ends.
func (q *Queue) Work(ctx context.Context, options WorkerOptions, handler Handler) (Counts, error) {
	worker, err := q.client.NewWorker(options)
	if err != nil {
		return Counts{}, err
	}
	worker.Handle(q.name, handler)
	return worker.Run(ctx)
}

// WorkOff handles what is due now, one message after the other, and returns once nothing more is due
// and all is settled: for tests with a moved clock. A retry without a delay is not due at once. The
// count is of handlers run.
func (q *Queue) WorkOff(ctx context.Context, handler Handler) (int, error) {
	for count := 0; ; count++ {
		claimed, err := q.Claim(ctx)
		if err != nil || len(claimed) == 0 {
			return count, err
		}
		one := &Delivery{Claimed: claimed[0], stop: make(chan struct{}), cancel: func() {}}
		trace := Trace{one.Headers["traceparent"], one.Headers["tracestate"]}
		verdict := verdictOf(q.client.handle(WithTrace(ctx, trace), handler, one))
		if _, err := q.client.Settle(ctx, one.Receipt, verdict); err != nil {
			return count + 1, err
		}
	}
}
