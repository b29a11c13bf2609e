// The driver of the conformance table for the Go client: clients/conformance/README.md.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"tarry.io/go/tarry"
)

var ctx = context.Background()
var writing sync.Mutex

type object map[string]any

func say(line object) {
	writing.Lock()
	defer writing.Unlock()
	encoded, _ := json.Marshal(line)
	os.Stdout.Write(append(encoded, '\n'))
}

// request is a request, or a part of one. encoding/json finds the fields by their names.
type request struct {
	ID                                                                             any
	Op, Queue, URL, Token, CA, Cert, State, Prefix, After, Action, Reason, Receipt string
	Delay_ms, Due_ms, Lease_ms, Wait_ms, By_ms, Due_from_ms, Due_to_ms, Until_ms   *int64
	Backoff_min_ms, Backoff_max_ms, Remember_ms, Dead_keep_ms, Width_ms, Drain_ms  *int64
	Patience_ms, Timeout_ms, Max_bytes                                             *int64
	Max, Max_attempts, Limit, Buckets, Concurrency, Prefetch                       *int
	Priority                                                                       *uint32
	Key, Payload, If_exists                                                        *string
	Key_base64, Payload_base64                                                     []byte
	Queues                                                                         []string
	Keys                                                                           *[]string
	Any_state                                                                      *bool
	Headers                                                                        map[string]string
	Message, Item                                                                  *request
	Messages, Items, Calls                                                         []*request
	Dry_run, Force, All                                                            bool
}

func or[T any](value *T) (all T) {
	if value != nil {
		all = *value
	}
	return
}
func ms(value *int64) *time.Duration {
	if value == nil {
		return nil
	}
	return tarry.Ptr(time.Duration(*value) * time.Millisecond)
}
func at(value *int64) time.Time {
	if value == nil {
		return time.Time{}
	}
	return time.UnixMilli(*value)
}
func text(plain *string, coded []byte) *string {
	if coded != nil {
		plain = tarry.Ptr(string(coded))
	}
	return plain
}
func (f *request) key() string { return or(text(f.Key, f.Key_base64)) }
func each[T any](list []*request, of func(*request) T) (all []T) {
	for _, one := range list {
		all = append(all, of(one))
	}
	return
}

// option adds an option if its field is there.
func option[V, O any](all []O, value *V, of func(V) O) []O {
	if value != nil {
		all = append(all, of(*value))
	}
	return all
}
func options(f *request) (all []tarry.PushOption) {
	all = option(all, ms(f.Delay_ms), tarry.Delay)
	all = option(all, f.Due_ms, func(due int64) tarry.PushOption { return tarry.Due(time.UnixMilli(due)) })
	all = option(all, text(f.Key, f.Key_base64), tarry.Key)
	all = option(all, f.Priority, tarry.Priority)
	all = option(all, (*tarry.IfExists)(f.If_exists), tarry.OnExisting)
	all = option(all, f.Max_attempts, tarry.MaxAttempts)
	for name, value := range f.Headers {
		all = append(all, tarry.Header(name, value))
	}
	return
}
func claim(f *request) (all []tarry.ClaimOption) {
	all = option(all, f.Max, tarry.Max)
	all = option(all, f.Max_bytes, tarry.MaxBytes)
	all = option(all, ms(f.Lease_ms), tarry.Lease)
	all = option(all, ms(f.Wait_ms), tarry.Wait)
	all = option(all, f.Keys, func(keys []string) tarry.ClaimOption { return tarry.Keys(keys...) })
	return option(all, f.Any_state, func(bool) tarry.ClaimOption { return tarry.AnyState() })
}
func message(f *request) tarry.Message {
	return tarry.NewMessage([]byte(or(text(f.Payload, f.Payload_base64))), options(f)...)
}
func move(f *request) tarry.Move { return tarry.NewMove(f.key(), options(f)...) }
func extension(f *request) tarry.ExtendItem {
	return tarry.ExtendItem{Receipt: f.Receipt, Lease: or(ms(f.Lease_ms))}
}
func verdict(f *request) tarry.Verdict {
	if f.Delay_ms != nil {
		return tarry.RetryAfter(*ms(f.Delay_ms), f.Reason)
	}
	return map[string]tarry.Verdict{"ack": tarry.Ack(), "release": tarry.Release(),
		"retry": tarry.Retry(f.Reason), "bury": tarry.Bury(f.Reason)}[f.Action]
}
func settlement(f *request) tarry.SettleItem {
	return tarry.SettleItem{Receipt: f.Receipt, Verdict: verdict(f)}
}
func bulk(f *request) tarry.Bulk {
	return tarry.Bulk{Action: f.Action, State: tarry.State(f.State), Prefix: f.Prefix, DueFrom: at(f.Due_from_ms),
		DueTo: at(f.Due_to_ms), Headers: f.Headers, Reason: f.Reason, Due: at(f.Due_ms), By: or(ms(f.By_ms)), DryRun: f.Dry_run}
}
func patch(f *request) tarry.SettingsPatch {
	return tarry.SettingsPatch{Lease: ms(f.Lease_ms), MaxAttempts: f.Max_attempts, BackoffMin: ms(f.Backoff_min_ms),
		BackoffMax: ms(f.Backoff_max_ms), Remember: ms(f.Remember_ms), DeadKeep: ms(f.Dead_keep_ms), IfExists: (*tarry.IfExists)(f.If_exists)}
}
func list(f *request) tarry.ListOptions {
	return tarry.ListOptions{State: tarry.State(f.State), Prefix: f.Prefix, Limit: or(f.Limit), After: f.After}
}
func listAll(pages *tarry.Iterator) (all []tarry.Stored, err error) {
	for pages.Next(ctx) {
		all = append(all, pages.Message())
	}
	return all, pages.Err()
}

func shown(value any, err error) object {
	var failed *tarry.Error
	if errors.As(err, &failed) {
		return object{"error": object{"code": failed.Code, "next": failed.Next(), "status": failed.Status, "message": failed.Message}}
	}
	switch said := value.(type) {
	case int64:
		value = object{"count": said}
	case bool:
		value = object{"paused": said}
	}
	return object{"ok": value}
}
func messages[T any](list []T, err error) (any, error) {
	return object{"messages": append([]T{}, list...)}, err
}
func batch[T any](results []tarry.Result[T], err error) (any, error) {
	items := []any{}
	for _, result := range results {
		if items = append(items, result.Value); result.Err != nil {
			items[len(items)-1] = shown(nil, result.Err)
		}
	}
	return items, err
}

// driver holds the client that open made last, and its worker.
type driver struct {
	*tarry.Client
	worker *tarry.Worker
	ended  chan tarry.Counts
	gates  sync.Map
}

// verbs are the verbs of a request; "one NAME" is the verb for a single message.
func (c *driver) verbs(q *tarry.Queue, f *request) map[string]func() (any, error) {
	return map[string]func() (any, error){
		"one push":       func() (any, error) { return q.PushMessage(ctx, message(f.Message)) },
		"one get":        func() (any, error) { return q.Get(ctx, f.key()) },
		"one why":        func() (any, error) { return q.Why(ctx, f.key()) },
		"one cancel":     func() (any, error) { return q.Cancel(ctx, f.key()) },
		"one reschedule": func() (any, error) { return q.Reschedule(ctx, f.Item.key(), options(f.Item)...) },
		"one settle":     func() (any, error) { return c.Settle(ctx, f.Item.Receipt, verdict(f.Item)) },
		"one extend":     func() (any, error) { return c.Extend(ctx, f.Item.Receipt, or(ms(f.Item.Lease_ms))) },
		"one revive":     func() (any, error) { return q.ReviveAll(ctx) },
		"push":           func() (any, error) { return batch(q.PushMany(ctx, each(f.Messages, message))) },
		"get":            func() (any, error) { return batch(q.GetMany(ctx, or(f.Keys))) },
		"cancel":         func() (any, error) { return batch(q.CancelMany(ctx, or(f.Keys))) },
		"reschedule":     func() (any, error) { return batch(q.RescheduleMany(ctx, each(f.Items, move))) },
		"settle":         func() (any, error) { return batch(c.SettleMany(ctx, each(f.Items, settlement))) },
		"extend":         func() (any, error) { return batch(c.ExtendMany(ctx, each(f.Items, extension))) },
		"claim":          func() (any, error) { return messages(c.Claim(ctx, f.Queues, claim(f)...)) },
		"list":           func() (any, error) { return q.ListPage(ctx, list(f)) },
		"list_all":       func() (any, error) { return messages(listAll(q.List(list(f)))) },
		"revive":         func() (any, error) { return q.Revive(ctx, or(f.Keys)...) },
		"bulk":           func() (any, error) { return q.Bulk(ctx, bulk(f)) },
		"configure":      func() (any, error) { return q.Configure(ctx, patch(f)) },
		"queue":          func() (any, error) { return q.Info(ctx) },
		"queues":         func() (any, error) { all, err := c.Queues(ctx); return object{"queues": all}, err },
		"stats":          func() (any, error) { return c.Stats(ctx, f.Queue) },
		"forecast":       func() (any, error) { return q.Forecast(ctx, *ms(f.Width_ms), *f.Buckets) },
		"pause":          func() (any, error) { return q.Pause(ctx, at(f.Until_ms)) },
		"resume":         func() (any, error) { return false, q.Resume(ctx) },
		"purge":          func() (any, error) { return q.Purge(ctx) },
		"remove":         func() (any, error) { return q.Remove(ctx, f.Force) },
		"advance":        func() (any, error) { return object{"advanced_ms": f.By_ms}, c.Advance(ctx, *ms(f.By_ms)) },
		"health":         func() (any, error) { return c.Health(ctx) },
		"close":          func() (any, error) { c.Close(); return object{}, nil },
		"together":       func() (any, error) { return c.together(f.Calls), nil },
		"work":           func() (any, error) { return object{}, c.work(f) },
		"one let_go":     func() (any, error) { close(c.gate(f.key())); return object{}, nil },
		"begin_stop":     func() (any, error) { c.worker.Stop(); return object{}, nil },
		"stop_work":      func() (any, error) { c.worker.Stop(); return <-c.ended, nil },
	}
}
func (c *driver) open(f *request) (err error) {
	c.Client, err = tarry.New(f.URL, tarry.WithToken(f.Token), tarry.WithCA(f.CA), tarry.WithCertificate(f.Cert, f.key()),
		tarry.WithPatience(or(ms(f.Patience_ms))), tarry.WithTimeout(or(ms(f.Timeout_ms))))
	return err
}
func (c *driver) carryOut(f *request) object {
	if f.Op == "open" {
		return shown(object{}, c.open(f))
	}
	if f.Message != nil || f.Item != nil || f.All || text(f.Key, f.Key_base64) != nil {
		f.Op = "one " + f.Op
	}
	if verb := c.verbs(c.Queue(f.Queue), f)[f.Op]; verb != nil {
		return shown(verb())
	}
	return object{"error": object{"code": "no_such_op"}}
}
func (c *driver) together(calls []*request) []object {
	answers, left := make([]object, len(calls)), sync.WaitGroup{}
	for index := range calls {
		left.Add(1)
		go func(index int) { answers[index] = c.carryOut(calls[index]); left.Done() }(index)
	}
	left.Wait()
	return answers
}
func (c *driver) gate(key string) chan struct{} {
	gate, _ := c.gates.LoadOrStore(key, make(chan struct{}))
	return gate.(chan struct{})
}
func (c *driver) work(f *request) (err error) {
	c.ended = make(chan tarry.Counts, 1)
	c.worker, err = c.NewWorker(tarry.WorkerOptions{Concurrency: or(f.Concurrency), Prefetch: or(f.Prefetch),
		NoPrefetch: f.Prefetch != nil, Lease: or(ms(f.Lease_ms)), Drain: or(ms(f.Drain_ms))})
	for _, name := range f.Queues {
		c.worker.Handle(name, c.handle)
	}
	go func() { counts, _ := c.worker.Run(ctx); c.ended <- counts }()
	return err
}
func (c *driver) handle(_ context.Context, one *tarry.Delivery) error {
	say(object{"event": "begun", "queue": one.Queue, "key": one.Key, "receipt": one.Receipt, "attempt": one.Attempt})
	defer say(object{"event": "ended", "queue": one.Queue, "key": one.Key, "receipt": one.Receipt})
	word, rest, _ := strings.Cut(string(one.Payload), " ")
	switch word {
	case "hold":
		go func() { <-one.Stopping(); say(object{"event": "signalled", "key": one.Key}) }()
		<-c.gate(one.Key)
	case "throw":
		panic(rest)
	case "retry":
		if delay, err := strconv.Atoi(rest); err == nil {
			return tarry.RetryAfter(time.Duration(delay)*time.Millisecond, "")
		}
		return tarry.Retry("")
	case "release":
		return tarry.Release()
	case "bury":
		return tarry.Bury(rest)
	}
	return nil
}
func main() {
	c := driver{}
	for lines := bufio.NewReader(os.Stdin); ; {
		line, err := lines.ReadBytes('\n')
		var f request
		if err != nil || json.Unmarshal(line, &f) != nil {
			return
		}
		said := c.carryOut(&f)
		said["id"] = f.ID
		say(said)
	}
}
