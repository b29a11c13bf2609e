// The driver of the conformance table for the Go client: clients/conformance/README.md.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"strings"
	"sync"
	"time"

	"tarry.io/go/tarry"
)

var ctx = context.Background()

type object map[string]any

// fields are those of a request, or of an item of one.
type fields map[string]json.RawMessage

// into reads a field, or all fields, as a type of the library; without the field, it is zero.
func into[T any](said any) (value T) {
	data, _ := json.Marshal(said)
	if err := json.Unmarshal(data, &value); err != nil {
		panic(err)
	}
	return value
}

func (f fields) text(name string) string { return into[string](f[name]) }
func (f fields) key() string             { return string(into[[]byte](f["key"])) }
func (f fields) keys() []string          { return into[[]string](f["keys"]) }
func (f fields) payload() []byte         { return into[[]byte](f["payload"]) }

func span(f fields, name string) time.Duration { return into[time.Duration](f[name]) }

func each[T any](f fields, of func(fields) T) (made []T) {
	for _, one := range into[[]fields](f["items"]) {
		made = append(made, of(one))
	}
	return made
}

func add[V, O any](options *[]O, f fields, name string, option func(V) O) {
	if f[name] != nil { // else no option is added
		*options = append(*options, option(into[V](f[name])))
	}
}

func pushOptions(f fields) (options []tarry.PushOption) {
	add(&options, f, "key", func(key []byte) tarry.PushOption { return tarry.Key(string(key)) })
	add(&options, f, "delay", tarry.Delay)
	add(&options, f, "spread", tarry.Spread)
	add(&options, f, "due", tarry.Due)
	add(&options, f, "priority", tarry.Priority)
	add(&options, f, "ifExists", tarry.OnExisting)
	add(&options, f, "maxAttempts", tarry.MaxAttempts)
	add(&options, f, "headers", tarry.Headers)
	return options
}

func claimOptions(f fields) (options []tarry.ClaimOption) {
	add(&options, f, "max", tarry.Max)
	add(&options, f, "maxBytes", tarry.MaxBytes)
	add(&options, f, "lease", tarry.Lease)
	add(&options, f, "wait", tarry.Wait)
	add(&options, f, "keys", func(keys []string) tarry.ClaimOption { return tarry.Keys(keys...) })
	add(&options, f, "anyState", func(bool) tarry.ClaimOption { return tarry.AnyState() })
	return options
}

func rates(f fields) (all []tarry.Rates) {
	add(&all, f, "rate", func(rate float64) tarry.Rates {
		return tarry.Rates{Claims: rate, Arrivals: into[float64](f["arrivals"])}
	})
	return all
}

func message(f fields) tarry.Message { return tarry.NewMessage(f.payload(), pushOptions(f)...) }

func move(f fields) tarry.Move { return tarry.NewMove(f.key(), pushOptions(f)...) }

func verdict(f fields) tarry.Verdict {
	if f["delay"] != nil {
		return tarry.RetryAfter(span(f, "delay"), f.text("reason"))
	}
	return verdicts(f.text("reason"))[f.text("action")]
}

func verdicts(reason string) map[string]tarry.Verdict {
	return map[string]tarry.Verdict{"ack": tarry.Ack(), "release": tarry.Release(),
		"retry": tarry.Retry(reason), "bury": tarry.Bury(reason)}
}

func settlement(f fields) tarry.SettleItem {
	return tarry.SettleItem{Receipt: f.text("receipt"), Verdict: verdict(f)}
}

type scheduled tarry.Schedule // without its own way of reading JSON

// driver holds the client that open made last, and its worker.
type driver struct {
	*tarry.Client
	worker *tarry.Worker
	ended  chan tarry.Counts
	gates  sync.Map
}

func (c *driver) verbs(f fields) map[string]func() (any, error) {
	q, name := c.Queue(f.text("queue")), f.text("name")
	return map[string]func() (any, error){
		"push":           func() (any, error) { return q.PushMessage(ctx, message(f)) },
		"pushMany":       func() (any, error) { return q.PushMany(ctx, each(f, message)) },
		"get":            func() (any, error) { return q.Get(ctx, f.key()) },
		"getMany":        func() (any, error) { return q.GetMany(ctx, f.keys()) },
		"why":            func() (any, error) { return q.Why(ctx, f.key()) },
		"history":        func() (any, error) { return q.History(ctx, f.key()) },
		"cancel":         func() (any, error) { return q.Cancel(ctx, f.key()) },
		"cancelMany":     func() (any, error) { return q.CancelMany(ctx, f.keys()) },
		"reschedule":     func() (any, error) { return q.Reschedule(ctx, f.key(), pushOptions(f)...) },
		"rescheduleMany": func() (any, error) { return q.RescheduleMany(ctx, each(f, move)) },
		"claim":          func() (any, error) { return c.Claim(ctx, into[[]string](f["queues"]), claimOptions(f)...) },
		"claimKeys":      func() (any, error) { return q.Claim(ctx, claimOptions(f)...) },
		"settle":         func() (any, error) { return c.Settle(ctx, f.text("receipt"), verdict(f)) },
		"settleMany":     func() (any, error) { return c.SettleMany(ctx, each(f, settlement)) },
		"extend":         func() (any, error) { return c.Extend(ctx, f.text("receipt"), span(f, "lease")) },
		"extendMany":     func() (any, error) { return c.ExtendMany(ctx, into[[]tarry.ExtendItem](f["items"])) },
		"list":           func() (any, error) { return q.ListPage(ctx, into[tarry.ListOptions](f)) },
		"listAll":        func() (any, error) { return q.List(into[tarry.ListOptions](f)).All(ctx) },
		"revive":         func() (any, error) { return q.Revive(ctx, f.keys()...) },
		"reviveAll":      func() (any, error) { return q.ReviveAll(ctx) },
		"bulk":           func() (any, error) { return q.Bulk(ctx, into[tarry.Bulk](f)) },
		"configure":      func() (any, error) { return q.Configure(ctx, into[tarry.SettingsPatch](f)) },
		"queue":          func() (any, error) { return q.Info(ctx) },
		"queues":         func() (any, error) { return c.Queues(ctx) },
		"stats":          func() (any, error) { return c.Stats(ctx, q.Name()) },
		"forecast":       func() (any, error) { return q.Forecast(ctx, span(f, "width"), into[int](f["buckets"]), rates(f)...) },
		"pause":          func() (any, error) { return q.Pause(ctx, into[time.Time](f["until"])) },
		"resume":         func() (any, error) { return nil, q.Resume(ctx) },
		"purge":          func() (any, error) { return q.Purge(ctx) },
		"remove":         func() (any, error) { return q.Remove(ctx, into[bool](f["force"])) },
		"putSchedule":    func() (any, error) { return c.PutSchedule(ctx, name, tarry.Schedule(into[scheduled](f))) },
		"schedule":       func() (any, error) { return c.Schedule(ctx, name) },
		"schedules":      func() (any, error) { return c.Schedules(ctx, f.text("prefix")) },
		"pauseSchedule":  func() (any, error) { return nil, c.PauseSchedule(ctx, name) },
		"resumeSchedule": func() (any, error) { return nil, c.ResumeSchedule(ctx, name) },
		"runSchedule":    func() (any, error) { return c.RunSchedule(ctx, name) },
		"removeSchedule": func() (any, error) { return nil, c.RemoveSchedule(ctx, name) },
		"occurrences":    func() (any, error) { return c.Occurrences(ctx, into[tarry.OccurrencesQuery](f)) },
		"advance":        func() (any, error) { return nil, c.Advance(ctx, span(f, "by")) },
		"health":         func() (any, error) { return c.Health(ctx) },
		"open":           func() (any, error) { return nil, c.open(f) },
		"close":          func() (any, error) { c.Close(); return nil, nil },
		"work":           func() (any, error) { return nil, c.work(f) },
		"letGo":          func() (any, error) { close(c.gate(f.key())); return nil, nil },
		"beginStop":      func() (any, error) { c.worker.Stop(); return nil, nil },
		"stopWork":       func() (any, error) { c.worker.Stop(); return <-c.ended, nil },
	}
}

func (c *driver) open(f fields) (err error) {
	c.Client, err = tarry.New(f.text("url"), tarry.WithToken(f.text("token")), tarry.WithCA(f.text("ca")),
		tarry.WithCertificate(f.text("cert"), f.key()), tarry.WithPatience(span(f, "patience")), tarry.WithTimeout(span(f, "timeout")))
	return err
}

func (c *driver) answer(f fields) object {
	verb := c.verbs(f)[f.text("op")]
	if verb == nil {
		return object{"id": f["id"], "error": object{"code": "no_such_op"}}
	}
	value, err := verb()
	return object{"id": f["id"], "ok": value, "error": err}
}

func (c *driver) gate(key string) chan struct{} {
	gate, _ := c.gates.LoadOrStore(key, make(chan struct{}))
	return gate.(chan struct{})
}

func (c *driver) work(f fields) (err error) {
	options := into[tarry.WorkerOptions](f)
	options.NoPrefetch = f["prefetch"] != nil
	c.worker, err = c.NewWorker(options)
	for _, name := range into[[]string](f["queues"]) {
		c.worker.Handle(name, c.handle)
	}
	go func() { counts, _ := c.worker.Run(ctx); c.ended <- counts }()
	return err
}

func (c *driver) handle(_ context.Context, one *tarry.Delivery) error {
	tell("begun", one)
	defer tell("ended", one)
	word, rest, _ := strings.Cut(string(one.Payload), " ")
	delay, err := time.ParseDuration(rest + "ms")
	switch {
	case word == "hold":
		go func() { <-one.Stopping(); tell("signalled", one) }()
		<-c.gate(one.Key)
	case word == "throw":
		panic(rest)
	case word == "retry" && err == nil:
		return tarry.RetryAfter(delay, "")
	case word == "retry", word == "release", word == "bury":
		return verdicts(rest)[word]
	}
	return nil
}

func tell(event string, one *tarry.Delivery) {
	say(object{"event": event, "queue": one.Queue, "key": one.Key, "receipt": one.Receipt, "attempt": one.Attempt})
}

var out = log.New(os.Stdout, "", 0) // it writes whole lines

func say(line object) {
	encoded, _ := json.Marshal(line)
	out.Println(string(encoded))
}

func main() {
	c := driver{ended: make(chan tarry.Counts, 1)}
	say(object{"names": "camel", "durations": "ns", "times": "rfc3339", "bytes": "base64"})
	for requests, f := json.NewDecoder(os.Stdin), new(fields); requests.Decode(f) == nil; f = new(fields) {
		go func(f fields) { say(c.answer(f)) }(*f)
	}
}
