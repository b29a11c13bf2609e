// The driver of the conformance table for the Go client: clients/conformance/README.md.
package main

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"tarry.io/go/tarry"
)

var ctx = context.Background()

func options(f *request) (all []tarry.PushOption) {
	all = option(all, ms(f.DelayMS), tarry.Delay)
	all = option(all, f.DueMS, func(due int64) tarry.PushOption { return tarry.Due(time.UnixMilli(due)) })
	all = option(all, f.key(), tarry.Key)
	all = option(all, f.Priority, tarry.Priority)
	all = option(all, f.IfExists, tarry.OnExisting)
	all = option(all, f.MaxAttempts, tarry.MaxAttempts)
	for name, value := range f.Headers {
		all = append(all, tarry.Header(name, value))
	}
	return
}

func claim(f *request) (all []tarry.ClaimOption) {
	all = option(all, f.Max, tarry.Max)
	all = option(all, f.MaxBytes, tarry.MaxBytes)
	all = option(all, ms(f.LeaseMS), tarry.Lease)
	all = option(all, ms(f.WaitMS), tarry.Wait)
	all = option(all, f.Keys, func(keys []string) tarry.ClaimOption { return tarry.Keys(keys...) })
	return option(all, f.AnyState, func(bool) tarry.ClaimOption { return tarry.AnyState() })
}

func message(f *request) tarry.Message {
	return tarry.NewMessage(f.payload(), options(f)...)
}

func move(f *request) tarry.Move { return tarry.NewMove(or(f.key()), options(f)...) }

func extension(f *request) tarry.ExtendItem {
	return tarry.ExtendItem{Receipt: f.Receipt, Lease: or(ms(f.LeaseMS))}
}

func verdict(f *request) tarry.Verdict {
	if f.Action == "retry" && f.DelayMS != nil {
		return tarry.RetryAfter(*ms(f.DelayMS), f.Reason)
	}
	return map[string]tarry.Verdict{"ack": tarry.Ack(), "release": tarry.Release(),
		"retry": tarry.Retry(f.Reason), "bury": tarry.Bury(f.Reason)}[f.Action]
}

func settlement(f *request) tarry.SettleItem {
	return tarry.SettleItem{Receipt: f.Receipt, Verdict: verdict(f)}
}

func bulk(f *request) tarry.Bulk {
	return tarry.Bulk{Action: f.Action, State: tarry.State(f.State), Prefix: f.Prefix,
		DueFrom: at(f.DueFromMS), DueTo: at(f.DueToMS), Headers: f.Headers, Reason: f.Reason,
		Due: at(f.DueMS), By: or(ms(f.ByMS)), DryRun: f.DryRun}
}

func patch(f *request) tarry.SettingsPatch {
	return tarry.SettingsPatch{Lease: ms(f.LeaseMS), MaxAttempts: f.MaxAttempts,
		BackoffMin: ms(f.BackoffMinMS), BackoffMax: ms(f.BackoffMaxMS),
		Remember: ms(f.RememberMS), DeadKeep: ms(f.DeadKeepMS), IfExists: f.IfExists,
		Objective: f.Objective}
}

func list(f *request) tarry.ListOptions {
	return tarry.ListOptions{
		State: tarry.State(f.State), Prefix: f.Prefix, Limit: or(f.Limit), After: f.After}
}

func schedule(f *request) tarry.Schedule {
	return tarry.Schedule{When: f.When, Zone: f.Zone, Start: at(f.StartMS), End: at(f.EndMS),
		Jitter: or(ms(f.JitterMS)), Queue: f.Queue, Payload: f.payload(), Headers: f.Headers,
		Priority: f.Priority, Missed: f.Missed, Paused: f.Paused}
}

func occurrences(f *request) tarry.OccurrencesQuery {
	return tarry.OccurrencesQuery{When: f.When, Zone: f.Zone, Start: at(f.StartMS), End: at(f.EndMS),
		Jitter: or(ms(f.JitterMS)), Name: f.Name, From: at(f.FromMS), Count: or(f.Count)}
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
		"one push":        func() (any, error) { return q.PushMessage(ctx, message(f.Message)) },
		"one get":         func() (any, error) { return q.Get(ctx, or(f.key())) },
		"one why":         func() (any, error) { return q.Why(ctx, or(f.key())) },
		"one cancel":      func() (any, error) { return q.Cancel(ctx, or(f.key())) },
		"one reschedule":  func() (any, error) { return q.Reschedule(ctx, or(f.Item.key()), options(f.Item)...) },
		"one settle":      func() (any, error) { return c.Settle(ctx, f.Item.Receipt, verdict(f.Item)) },
		"one extend":      func() (any, error) { return c.Extend(ctx, f.Item.Receipt, or(ms(f.Item.LeaseMS))) },
		"one revive":      func() (any, error) { return q.ReviveAll(ctx) },
		"push":            func() (any, error) { return batch(q.PushMany(ctx, each(f.Messages, message))) },
		"get":             func() (any, error) { return batch(q.GetMany(ctx, or(f.Keys))) },
		"cancel":          func() (any, error) { return batch(q.CancelMany(ctx, or(f.Keys))) },
		"reschedule":      func() (any, error) { return batch(q.RescheduleMany(ctx, each(f.Items, move))) },
		"settle":          func() (any, error) { return batch(c.SettleMany(ctx, each(f.Items, settlement))) },
		"extend":          func() (any, error) { return batch(c.ExtendMany(ctx, each(f.Items, extension))) },
		"claim":           func() (any, error) { return messages(c.Claim(ctx, f.Queues, claim(f)...)) },
		"list":            func() (any, error) { return q.ListPage(ctx, list(f)) },
		"list_all":        func() (any, error) { return messages(q.List(list(f)).All(ctx)) },
		"revive":          func() (any, error) { return q.Revive(ctx, or(f.Keys)...) },
		"bulk":            func() (any, error) { return q.Bulk(ctx, bulk(f)) },
		"configure":       func() (any, error) { return q.Configure(ctx, patch(f)) },
		"queue":           func() (any, error) { return q.Info(ctx) },
		"queues":          func() (any, error) { return c.Queues(ctx) },
		"stats":           func() (any, error) { return c.Stats(ctx, f.Queue) },
		"forecast":        func() (any, error) { return q.Forecast(ctx, *ms(f.WidthMS), *f.Buckets, f.rates()...) },
		"pause":           func() (any, error) { return q.Pause(ctx, at(f.UntilMS)) },
		"resume":          func() (any, error) { return false, q.Resume(ctx) },
		"purge":           func() (any, error) { return q.Purge(ctx) },
		"remove":          func() (any, error) { return q.Remove(ctx, f.Force) },
		"advance":         func() (any, error) { return object{"advanced_ms": f.ByMS}, c.Advance(ctx, *ms(f.ByMS)) },
		"health":          func() (any, error) { return c.Health(ctx) },
		"put_schedule":    func() (any, error) { return c.PutSchedule(ctx, f.Name, schedule(f)) },
		"schedule":        func() (any, error) { return c.Schedule(ctx, f.Name) },
		"schedules":       func() (any, error) { return c.Schedules(ctx, f.Prefix) },
		"pause_schedule":  func() (any, error) { return object{}, c.PauseSchedule(ctx, f.Name) },
		"resume_schedule": func() (any, error) { return object{}, c.ResumeSchedule(ctx, f.Name) },
		"run_schedule":    func() (any, error) { return c.RunSchedule(ctx, f.Name) },
		"remove_schedule": func() (any, error) { return object{}, c.RemoveSchedule(ctx, f.Name) },
		"occurrences":     func() (any, error) { return c.Occurrences(ctx, occurrences(f)) },
		"close":           func() (any, error) { c.Close(); return object{}, nil },
		"together":        func() (any, error) { return c.together(f.Calls), nil },
		"work":            func() (any, error) { return object{}, c.work(f) },
		"one let_go":      func() (any, error) { close(c.gate(or(f.key()))); return object{}, nil },
		"begin_stop":      func() (any, error) { c.worker.Stop(); return object{}, nil },
		"stop_work":       func() (any, error) { c.worker.Stop(); return <-c.ended, nil },
	}
}

func (c *driver) open(f *request) (err error) {
	c.Client, err = tarry.New(f.URL, tarry.WithToken(f.Token), tarry.WithCA(f.CA),
		tarry.WithCertificate(f.Cert, or(f.key())), tarry.WithPatience(or(ms(f.PatienceMS))),
		tarry.WithTimeout(or(ms(f.TimeoutMS))))
	return err
}

func (c *driver) carryOut(f *request) object {
	if f.Op == "open" {
		return shown(object{}, c.open(f))
	}
	if f.Message != nil || f.Item != nil || f.All || f.key() != nil {
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
	c.worker, err = c.NewWorker(tarry.WorkerOptions{
		Concurrency: or(f.Concurrency), Prefetch: or(f.Prefetch), NoPrefetch: f.Prefetch != nil,
		Lease: or(ms(f.LeaseMS)), Drain: or(ms(f.DrainMS))})
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
	case "retry", "release", "bury":
		delay, err := strconv.ParseInt(rest, 10, 64)
		return verdict(&request{Action: word, Reason: rest, DelayMS: given(delay, err)})
	}
	return nil
}

func main() {
	c := driver{}
	for requests := json.NewDecoder(os.Stdin); ; {
		var f request
		if requests.Decode(&f) != nil {
			return
		}
		said := c.carryOut(&f)
		said["id"] = f.ID
		say(said)
	}
}
