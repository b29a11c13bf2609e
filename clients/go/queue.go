package tarry

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"time"
	"unicode/utf8"
)

// Queue is a handle of a queue. The first push makes the queue.
type Queue struct {
	client *Client
	name   string
}

// Name is the queue's name.
func (q *Queue) Name() string { return q.name }

func (f fields) putKeys(keys []string) {
	plain := true
	coded := make([][]byte, len(keys))
	for index, key := range keys {
		plain = plain && utf8.ValidString(key)
		coded[index] = []byte(key)
	}
	if plain {
		f["keys"] = append([]string{}, keys...)
	} else {
		f["keys_base64"] = coded
	}
}

// Push pushes one message. A key that is taken is an outcome, not an error. Calls of many goroutines
// go together in one request.
func (q *Queue) Push(ctx context.Context, payload []byte, options ...PushOption) (PushResult, error) {
	return q.PushMessage(ctx, NewMessage(payload, options...))
}

// PushMessage pushes a message made by NewMessage or NewJSON.
func (q *Queue) PushMessage(ctx context.Context, message Message) (PushResult, error) {
	one := q.pushItem(q.traced(ctx), message)
	if one.err != nil {
		return PushResult{}, one.err
	}
	return single[PushResult](ctx, q.client, one.lane, one.item)
}

// PushMany pushes messages in one request.
func (q *Queue) PushMany(ctx context.Context, messages []Message) ([]Result[PushResult], error) {
	batch := make([]laneItem, len(messages))
	traced := q.traced(ctx)
	for index, message := range messages {
		batch[index] = q.pushItem(traced, message)
	}
	return many[PushResult](ctx, q.client, batch)
}

func (q *Queue) traced(ctx context.Context) context.Context {
	if q.client.tracer == nil {
		return ctx
	}
	return WithTrace(ctx, q.client.tracer.Push(ctx, q.name))
}

func (q *Queue) pushItem(ctx context.Context, message Message) laneItem {
	item, err := message.item(ctx)
	return laneItem{lane{queuePath(q.name, "/push"), "messages", false}, item, err}
}

func (q *Queue) keyItem(verb, key string, repeatable bool) laneItem {
	one := laneItem{lane: lane{queuePath(q.name, verb), "keys", repeatable}}
	var err error
	if utf8.ValidString(key) {
		one.item, err = json.Marshal(key)
	} else {
		one.lane.name = "keys_base64"
		one.item, err = json.Marshal([]byte(key))
	}
	one.err = err
	return one
}

func (q *Queue) keyItems(verb string, keys []string, repeatable bool) []laneItem {
	batch := make([]laneItem, len(keys))
	for index, key := range keys {
		batch[index] = q.keyItem(verb, key, repeatable)
	}
	return batch
}

// Get is one message with its payload.
func (q *Queue) Get(ctx context.Context, key string) (Stored, error) {
	one := q.keyItem("/get", key, true)
	return single[Stored](ctx, q.client, one.lane, one.item)
}

// GetMany are messages with their payloads, in one request.
func (q *Queue) GetMany(ctx context.Context, keys []string) ([]Result[Stored], error) {
	return many[Stored](ctx, q.client, q.keyItems("/get", keys, true))
}

// Cancel prevents the delivery of a message. Stopping: it is in a handler's hands, and will not come
// again.
func (q *Queue) Cancel(ctx context.Context, key string) (ChangeResult, error) {
	one := q.keyItem("/cancel", key, false)
	return single[ChangeResult](ctx, q.client, one.lane, one.item)
}

// CancelMany cancels messages in one request.
func (q *Queue) CancelMany(ctx context.Context, keys []string) ([]Result[ChangeResult], error) {
	return many[ChangeResult](ctx, q.client, q.keyItems("/cancel", keys, false))
}

// Reschedule gives a message another due time: Delay or Due, and Priority if it changes too.
func (q *Queue) Reschedule(ctx context.Context, key string, options ...PushOption) (ChangeResult, error) {
	return single[ChangeResult](ctx, q.client, q.moveLane(), NewMove(key, options...).body.encode())
}

// RescheduleMany reschedules messages in one request.
func (q *Queue) RescheduleMany(ctx context.Context, moves []Move) ([]Result[ChangeResult], error) {
	batch := make([]laneItem, len(moves))
	for index, one := range moves {
		batch[index] = laneItem{q.moveLane(), one.body.encode(), nil}
	}
	return many[ChangeResult](ctx, q.client, batch)
}

func (q *Queue) moveLane() lane { return lane{queuePath(q.name, "/reschedule"), "items", false} }

// Claim claims due messages of this queue; see Client.Claim.
func (q *Queue) Claim(ctx context.Context, options ...ClaimOption) ([]Claimed, error) {
	return q.client.Claim(ctx, []string{q.name}, options...)
}

// ask carries out a request on the queue as a whole.
func (q *Queue) ask(ctx context.Context, method, rest string, body fields, repeatable bool,
	into any) error {
	one := call{method: method, path: queuePath(q.name, rest), repeatable: repeatable}
	if body != nil {
		one.body = body.encode()
	}
	return q.client.run(ctx, one, into)
}

type count struct{ Count int64 }

// Revive brings dead messages back, and says how many.
func (q *Queue) Revive(ctx context.Context, keys ...string) (int64, error) {
	if len(keys) == 0 {
		return 0, nil
	}
	var answer count
	body := fields{}
	body.putKeys(keys)
	err := q.ask(ctx, "POST", "/revive", body, false, &answer)
	return answer.Count, err
}

// ReviveAll brings all dead messages back, and says how many.
func (q *Queue) ReviveAll(ctx context.Context) (int64, error) {
	var answer count
	err := q.ask(ctx, "POST", "/revive", fields{"all": true}, false, &answer)
	return answer.Count, err
}

// Purge removes all messages that are not leased, and says how many.
func (q *Queue) Purge(ctx context.Context) (int64, error) {
	var answer count
	err := q.ask(ctx, "POST", "/purge", nil, false, &answer)
	return answer.Count, err
}

// Remove removes the queue with everything in it. Without force it is refused while messages are
// leased.
func (q *Queue) Remove(ctx context.Context, force bool) (int64, error) {
	var answer count
	rest := ""
	if force {
		rest = "?force=true"
	}
	err := q.ask(ctx, "DELETE", rest, nil, false, &answer)
	return answer.Count, err
}

// Pause stops claims until Resume, or until a time if it is not zero.
func (q *Queue) Pause(ctx context.Context, until time.Time) (bool, error) {
	var answer struct{ Paused bool }
	body := fields{}
	body.putTime("until", until)
	err := q.ask(ctx, "POST", "/pause", body, true, &answer)
	return answer.Paused, err
}

// Resume allows claims again.
func (q *Queue) Resume(ctx context.Context) error {
	var answer struct{}
	return q.ask(ctx, "POST", "/resume", nil, true, &answer)
}

// Configure changes settings, and answers all of them. It makes the queue if there is none.
func (q *Queue) Configure(ctx context.Context, patch SettingsPatch) (Settings, error) {
	var answer Settings
	body := fields{}
	body.putDuration("lease", patch.Lease)
	body.putDuration("backoff_min", patch.BackoffMin)
	body.putDuration("backoff_max", patch.BackoffMax)
	body.putDuration("remember", patch.Remember)
	body.putDuration("dead_keep", patch.DeadKeep)
	if patch.MaxAttempts != nil {
		body["max_attempts"] = *patch.MaxAttempts
	}
	if patch.IfExists != nil {
		body["if_exists"] = *patch.IfExists
	}
	if patch.Objective != nil {
		body["objective"] = *patch.Objective
	}
	body.putDuration("expire", patch.Expire)
	if patch.OnExpiry != nil {
		body["on_expiry"] = *patch.OnExpiry
	}
	if patch.MaxLeased != nil {
		body["max_leased"] = *patch.MaxLeased
	}
	if patch.Rate != nil {
		body["rate"] = *patch.Rate
	}
	if patch.Group != nil {
		body["group"] = *patch.Group
	}
	if patch.GroupMaxLeased != nil {
		body["group_max_leased"] = *patch.GroupMaxLeased
	}
	if patch.History != nil {
		body["history"] = *patch.History
	}
	if patch.GroupOrder != nil {
		body["group_order"] = *patch.GroupOrder
	}
	err := q.ask(ctx, "PUT", "", body, true, &answer)
	return answer, err
}

// Info is the queue's settings, state and counters.
func (q *Queue) Info(ctx context.Context) (QueueInfo, error) {
	var answer QueueInfo
	err := q.ask(ctx, "GET", "", nil, true, &answer)
	return answer, err
}

// Why says why a message has not been delivered, in one sentence.
func (q *Queue) Why(ctx context.Context, key string) (Why, error) {
	var answer Why
	query := url.Values{}
	query.Set(inQuery("key", key))
	err := q.ask(ctx, "GET", "/why?"+query.Encode(), nil, true, &answer)
	return answer, err
}

// History says what has happened to a message, if the queue has the setting History.
func (q *Queue) History(ctx context.Context, key string) (History, error) {
	var answer History
	query := url.Values{}
	query.Set(inQuery("key", key))
	err := q.ask(ctx, "GET", "/history?"+query.Encode(), nil, true, &answer)
	return answer, err
}

// Forecast says how many messages fall due in each of the next buckets, each as wide. With rates it
// also says when the backlog is drained, and how late messages come.
func (q *Queue) Forecast(ctx context.Context, width time.Duration, buckets int, rates ...Rates) (Forecast, error) {
	var answer Forecast
	query := url.Values{"width_ms": {strconv.FormatInt(width.Milliseconds(), 10)},
		"buckets": {strconv.Itoa(buckets)}}
	for _, each := range rates {
		query.Set("rate", strconv.FormatFloat(each.Claims, 'f', -1, 64))
		if each.Arrivals != 0 {
			query.Set("arrivals", strconv.FormatFloat(each.Arrivals, 'f', -1, 64))
		}
	}
	err := q.ask(ctx, "GET", "/forecast?"+query.Encode(), nil, true, &answer)
	return answer, err
}
