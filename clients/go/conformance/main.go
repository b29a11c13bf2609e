// The driver of the conformance table for the Go client: clients/conformance/README.md.
package main

import (
	"bufio"
	"context"
	"encoding/base64"
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
var c *tarry.Client // the last that open made
var writing sync.Mutex

func say(line object) {
	writing.Lock()
	defer writing.Unlock()
	encoded, _ := json.Marshal(line)
	os.Stdout.Write(append(encoded, '\n'))
}

// object is a request, or a part of one. Absent fields are zero.
type object map[string]any

func (f object) has(name string) bool     { return f[name] != nil }
func (f object) flag(name string) bool    { return f[name] == true }
func (f object) of(name string) object    { one, _ := f[name].(map[string]any); return one }
func (f object) number(name string) int64 { one, _ := f[name].(float64); return int64(one) }
func (f object) span(name string) time.Duration {
	return time.Duration(f.number(name)) * time.Millisecond
}
func (f object) text(name string) string {
	if coded, ok := f[name+"_base64"].(string); ok {
		raw, _ := base64.StdEncoding.DecodeString(coded)
		return string(raw)
	}
	value, _ := f[name].(string)
	return value
}
func (f object) time(name string) (when time.Time) {
	if f.has(name) {
		when = time.UnixMilli(f.number(name))
	}
	return
}
func (f object) texts(name string) (all []string) {
	listed, _ := f[name].([]any)
	for _, one := range listed {
		all = append(all, one.(string))
	}
	return
}
func (f object) headers() map[string]string {
	all := map[string]string{}
	for name, value := range f.of("headers") {
		all[name] = value.(string)
	}
	return all
}
func objects[T any](list any, of func(object) T) (all []T) {
	for _, one := range list.([]any) {
		all = append(all, of(one.(map[string]any)))
	}
	return
}

// given are the options whose fields the request has.
func given[T any](f object, known map[string]T) (all []T) {
	for name, option := range known {
		if f.has(name) || f.has(name+"_base64") {
			all = append(all, option)
		}
	}
	return
}
func options(f object) []tarry.PushOption {
	all := given(f, map[string]tarry.PushOption{
		"delay_ms": tarry.Delay(f.span("delay_ms")), "due_ms": tarry.Due(f.time("due_ms")),
		"key": tarry.Key(f.text("key")), "priority": tarry.Priority(uint32(f.number("priority"))),
		"if_exists": tarry.OnExisting(tarry.IfExists(f.text("if_exists"))), "max_attempts": tarry.MaxAttempts(int(f.number("max_attempts")))})
	for name, value := range f.headers() {
		all = append(all, tarry.Header(name, value))
	}
	return all
}
func message(f object) tarry.Message {
	return tarry.NewMessage([]byte(f.text("payload")), options(f)...)
}
func move(f object) tarry.Move { return tarry.NewMove(f.text("key"), options(f)...) }
func extension(f object) tarry.ExtendItem {
	return tarry.ExtendItem{Receipt: f.text("receipt"), Lease: f.span("lease_ms")}
}
func settlement(f object) tarry.SettleItem {
	verdict := map[string]tarry.Verdict{"ack": tarry.Ack(), "release": tarry.Release(),
		"retry": tarry.Retry(f.text("reason")), "bury": tarry.Bury(f.text("reason"))}[f.text("action")]
	if f.has("delay_ms") {
		verdict = tarry.RetryAfter(f.span("delay_ms"), f.text("reason"))
	}
	return tarry.SettleItem{Receipt: f.text("receipt"), Verdict: verdict}
}
func claim(f object) ([]tarry.Claimed, error) {
	return c.Claim(ctx, f.texts("queues"), given(f, map[string]tarry.ClaimOption{
		"max": tarry.Max(int(f.number("max"))), "max_bytes": tarry.MaxBytes(f.number("max_bytes")),
		"lease_ms": tarry.Lease(f.span("lease_ms")), "any_state": tarry.AnyState(),
		"wait_ms": tarry.Wait(f.span("wait_ms")), "keys": tarry.Keys(f.texts("keys")...)})...)
}
func list(f object) tarry.ListOptions {
	return tarry.ListOptions{State: tarry.State(f.text("state")), Prefix: f.text("prefix"), Limit: int(f.number("limit")), After: f.text("after")}
}
func listAll(pages *tarry.Iterator) (all []tarry.Stored, err error) {
	for pages.Next(ctx) {
		all = append(all, pages.Message())
	}
	return all, pages.Err()
}
func bulk(f object) tarry.Bulk {
	return tarry.Bulk{Action: f.text("action"), State: tarry.State(f.text("state")), Prefix: f.text("prefix"), DueFrom: f.time("due_from_ms"),
		DueTo: f.time("due_to_ms"), Headers: f.headers(), Reason: f.text("reason"), Due: f.time("due_ms"), By: f.span("by_ms"), DryRun: f.flag("dry_run")}
}
func patch(f object) (patch tarry.SettingsPatch) {
	for name, field := range map[string]**time.Duration{"lease_ms": &patch.Lease, "backoff_min_ms": &patch.BackoffMin,
		"backoff_max_ms": &patch.BackoffMax, "remember_ms": &patch.Remember, "dead_keep_ms": &patch.DeadKeep} {
		if f.has(name) {
			*field = tarry.Ptr(f.span(name))
		}
	}
	if f.has("max_attempts") {
		patch.MaxAttempts = tarry.Ptr(int(f.number("max_attempts")))
	}
	if f.has("if_exists") {
		patch.IfExists = tarry.Ptr(tarry.IfExists(f.text("if_exists")))
	}
	return
}

func shown(value any, err error) object {
	var failed *tarry.Error
	if errors.As(err, &failed) {
		return object{"error": object{"code": failed.Code, "next": failed.Next(), "status": failed.Status, "message": failed.Message}}
	}
	return object{"ok": value}
}
func one[T any](value T, err error) object             { return shown(value, err) }
func in[T any](name string, value T, err error) object { return shown(object{name: value}, err) }
func count(value int64, err error) object              { return in("count", value, err) }
func flag(value bool, err error) object                { return in("paused", value, err) }
func all[T any](name string, list []T, err error) object {
	return in(name, append([]T{}, list...), err)
}
func messages[T any](list []T, err error) object { return all("messages", list, err) }
func batch[T any](results []tarry.Result[T], err error) object {
	items := []any{}
	for _, result := range results {
		if items = append(items, result.Value); result.Err != nil {
			items[len(items)-1] = shown(nil, result.Err)
		}
	}
	return shown(items, err)
}

type queue = *tarry.Queue
type verb = func(q queue, f object) object

var singles = map[string]func(q queue, f object) object{
	"push":   func(q queue, f object) object { return one(q.PushMessage(ctx, message(f.of("message")))) },
	"get":    func(q queue, f object) object { return one(q.Get(ctx, f.text("key"))) },
	"cancel": func(q queue, f object) object { return one(q.Cancel(ctx, f.text("key"))) },
	"reschedule": func(q queue, f object) object {
		return one(q.Reschedule(ctx, f.of("item").text("key"), options(f.of("item"))...))
	},
	"settle": func(q queue, f object) object {
		return one(c.Settle(ctx, f.of("item").text("receipt"), settlement(f.of("item")).Verdict))
	},
	"extend": func(q queue, f object) object {
		return one(c.Extend(ctx, f.of("item").text("receipt"), f.of("item").span("lease_ms")))
	},
	"revive": func(q queue, f object) object { return count(q.ReviveAll(ctx)) },
}
var verbs = map[string]func(q queue, f object) object{
	"push":       func(q queue, f object) object { return batch(q.PushMany(ctx, objects(f["messages"], message))) },
	"get":        func(q queue, f object) object { return batch(q.GetMany(ctx, f.texts("keys"))) },
	"cancel":     func(q queue, f object) object { return batch(q.CancelMany(ctx, f.texts("keys"))) },
	"reschedule": func(q queue, f object) object { return batch(q.RescheduleMany(ctx, objects(f["items"], move))) },
	"settle":     func(q queue, f object) object { return batch(c.SettleMany(ctx, objects(f["items"], settlement))) },
	"extend":     func(q queue, f object) object { return batch(c.ExtendMany(ctx, objects(f["items"], extension))) },
	"claim":      func(q queue, f object) object { return messages(claim(f)) },
	"list":       func(q queue, f object) object { return one(q.ListPage(ctx, list(f))) },
	"list_all":   func(q queue, f object) object { return messages(listAll(q.List(list(f)))) },
	"revive":     func(q queue, f object) object { return count(q.Revive(ctx, f.texts("keys")...)) },
	"bulk":       func(q queue, f object) object { return one(q.Bulk(ctx, bulk(f))) },
	"configure":  func(q queue, f object) object { return one(q.Configure(ctx, patch(f))) },
	"queue":      func(q queue, f object) object { return one(q.Info(ctx)) },
	"queues":     func(q queue, f object) object { list, err := c.Queues(ctx); return all("queues", list, err) },
	"stats":      func(q queue, f object) object { return one(c.Stats(ctx, f.text("queue"))) },
	"forecast": func(q queue, f object) object {
		return one(q.Forecast(ctx, f.span("width_ms"), int(f.number("buckets"))))
	},
	"pause":  func(q queue, f object) object { return flag(q.Pause(ctx, f.time("until_ms"))) },
	"resume": func(q queue, f object) object { return flag(false, q.Resume(ctx)) },
	"purge":  func(q queue, f object) object { return count(q.Purge(ctx)) },
	"remove": func(q queue, f object) object { return count(q.Remove(ctx, f.flag("force"))) },
	"advance": func(q queue, f object) object {
		return in("advanced_ms", f.number("by_ms"), c.Advance(ctx, f.span("by_ms")))
	},
	"health": func(q queue, f object) object { return one(c.Health(ctx)) },
}

type driver struct {
	worker *tarry.Worker
	ended  chan tarry.Counts
	gates  sync.Map
}

func (d *driver) gate(key string) chan struct{} {
	gate, _ := d.gates.LoadOrStore(key, make(chan struct{}))
	return gate.(chan struct{})
}
func (d *driver) carryOut(f object) (said object) {
	var err error
	switch op := f.text("op"); op {
	case "open":
		c, err = tarry.New(f.text("url"), tarry.WithToken(f.text("token")), tarry.WithCA(f.text("ca")),
			tarry.WithCertificate(f.text("cert"), f.text("key")), tarry.WithPatience(f.span("patience_ms")), tarry.WithTimeout(f.span("timeout_ms")))
	case "close":
		c.Close()
	case "together":
		return shown(d.together(objects(f["calls"], func(call object) object { return call })), nil)
	case "work":
		err = d.work(f)
	case "let_go":
		close(d.gate(f.text("key")))
	case "begin_stop":
		d.worker.Stop()
	case "stop_work":
		d.worker.Stop()
		return shown(<-d.ended, nil)
	default:
		known := verbs[op]
		if len(given(f, map[string]int{"message": 1, "item": 1, "key": 1, "all": 1})) > 0 {
			known = singles[op]
		}
		if known == nil {
			return object{"error": object{"code": "no_such_op"}}
		}
		return known(c.Queue(f.text("queue")), f)
	}
	return shown(object{}, err)
}
func (d *driver) together(calls []object) []object {
	answers, left := make([]object, len(calls)), sync.WaitGroup{}
	for index := range calls {
		left.Add(1)
		go func(index int) { answers[index] = d.carryOut(calls[index]); left.Done() }(index)
	}
	left.Wait()
	return answers
}
func (d *driver) work(f object) (err error) {
	d.ended = make(chan tarry.Counts, 1)
	d.worker, err = c.NewWorker(tarry.WorkerOptions{Concurrency: int(f.number("concurrency")), Prefetch: int(f.number("prefetch")),
		NoPrefetch: f.has("prefetch"), Lease: f.span("lease_ms"), Drain: f.span("drain_ms")})
	for _, name := range f.texts("queues") {
		d.worker.Handle(name, d.handle)
	}
	go func() { counts, _ := d.worker.Run(ctx); d.ended <- counts }()
	return err
}
func (d *driver) handle(_ context.Context, one *tarry.Delivery) error {
	say(object{"event": "begun", "queue": one.Queue, "key": one.Key, "receipt": one.Receipt, "attempt": one.Attempt})
	defer say(object{"event": "ended", "queue": one.Queue, "key": one.Key, "receipt": one.Receipt})
	word, rest, _ := strings.Cut(string(one.Payload), " ")
	switch word {
	case "hold":
		go func() { <-one.Stopping(); say(object{"event": "signalled", "key": one.Key}) }()
		<-d.gate(one.Key)
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
	d := driver{}
	for lines := bufio.NewReader(os.Stdin); ; {
		line, err := lines.ReadBytes('\n')
		var f object
		if err != nil || json.Unmarshal(line, &f) != nil {
			return
		}
		said := d.carryOut(f)
		said["id"] = f["id"]
		say(said)
	}
}
