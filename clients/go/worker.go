package tarry

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// Delivery is a message in a handler's hands.
type Delivery struct {
	Claimed
	stop     chan struct{}
	stopOnce sync.Once
	cancel   context.CancelFunc
}

// Stopping is closed when the worker stops, or the claim is lost: a long handler that can end early
// should. The handler's context ends only when the claim is lost, or Drain is over.
func (d *Delivery) Stopping() <-chan struct{} { return d.stop }

func (d *Delivery) signal() { d.stopOnce.Do(func() { close(d.stop) }) }

// Handler handles a delivery. It returns nil, which is an ack, or a Verdict: Retry, RetryAfter,
// Release, Bury. Any other error is a retry with its text as the reason, as is a panic.
type Handler func(ctx context.Context, delivery *Delivery) error

// JSON is a handler of payloads in JSON. A payload that cannot be read is buried.
func JSON[T any](handle func(ctx context.Context, delivery *Delivery, value T) error) Handler {
	return func(ctx context.Context, delivery *Delivery) error {
		var value T
		if err := json.Unmarshal(delivery.Payload, &value); err != nil {
			return Bury("payload: " + err.Error())
		}
		return handle(ctx, delivery, value)
	}
}

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

// -- claims

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
		room := 0
		if len(w.waiting) <= w.options.Prefetch/2 {
			room = w.options.Concurrency + w.options.Prefetch - len(w.book.held)
		}
		stopped := w.stopped
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

func (w *Worker) claim(room int) (time.Duration, error) {
	given := []ClaimOption{Max(room), Wait(claimWait)}
	if w.options.Lease != 0 {
		given = append(given, Lease(w.options.Lease))
	}
	var answer claimed
	sent := elapsed()
	after, failed := w.client.try(w.claims, claimCall(w.queues, given), &answer)
	if failed != nil {
		return after, failed
	}
	begun := elapsed()
	if answer.WaitedMS != nil && *answer.WaitedMS >= 0 {
		begun = sent + time.Duration(*answer.WaitedMS)*time.Millisecond
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	for _, message := range answer.Messages {
		one := w.book.hold(message, begun)
		if w.stopped {
			w.book.end(one, Release())
		} else {
			w.waiting = append(w.waiting, one)
		}
	}
	if len(answer.Messages) > 0 {
		w.work.Broadcast()
		kick(w.extendNews)
		kick(w.settleNews)
	}
	return -1, nil
}

// -- handlers

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
		err := w.handle(ctx, one.delivery)
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

func (w *Worker) handle(ctx context.Context, delivery *Delivery) (err error) {
	end := func(error) {}
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v", panicked)
			w.client.log("a handler of "+delivery.Queue+" panicked",
				fmt.Errorf("%v\n%s", panicked, debug.Stack()))
		}
		end(err)
	}()
	if w.client.tracer != nil {
		ctx, end = w.client.tracer.Handle(ctx, delivery)
	}
	return w.handlers[delivery.Queue](ctx, delivery)
}

// -- settlements and extensions

func (w *Worker) settleAll() {
	var waits backoff
	for {
		w.lock.Lock()
		batch := w.book.settlements()
		w.lock.Unlock()
		if len(batch) == 0 {
			select {
			case <-w.settleNews:
				continue
			case <-w.finished:
			}
			w.lock.Lock()
			over := !w.book.isSettling()
			w.lock.Unlock()
			if over {
				return
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
		verdict := verdictOf(handler(WithTrace(ctx, trace), one))
		if _, err := q.client.Settle(ctx, one.Receipt, verdict); err != nil {
			return count + 1, err
		}
	}
}
