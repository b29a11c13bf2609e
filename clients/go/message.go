package tarry

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"
)

type fields map[string]any

// put sets name, or name_base64 if the value is not UTF-8.
func (f fields) put(name, value string) {
	if utf8.ValidString(value) {
		f[name] = value
	} else {
		f[name+"_base64"] = []byte(value)
	}
}

func (f fields) putDuration(name string, value *time.Duration) {
	if value != nil {
		f[name+"_ms"] = value.Milliseconds()
	}
}

func (f fields) putTime(name string, value time.Time) {
	if !value.IsZero() {
		f[name+"_ms"] = value.UnixMilli()
	}
}

func (f fields) encode() json.RawMessage { return encode(f) }

func encode(request any) json.RawMessage {
	body, err := json.Marshal(request)
	if err != nil {
		panic(fmt.Sprintf("tarry: fields of a request cannot be written: %v", err))
	}
	return body
}

// Message is a message to push. NewMessage makes it.
type Message struct {
	body    fields
	headers map[string]string
	err     error
}

// PushOption is a property of a message to push, or of a message to reschedule (Delay, Due and
// Priority).
type PushOption func(*Message)

// Key names the message within its queue; Cancel, Reschedule and Get find it by this name. Without
// it the server makes one. An empty key is refused.
func Key(key string) PushOption { return func(m *Message) { m.body.put("key", key) } }

// Delay is how long after the push the message is due. Whole milliseconds count.
func Delay(delay time.Duration) PushOption {
	return func(m *Message) { m.body.putDuration("delay", &delay) }
}

// Due is when the message is due.
func Due(due time.Time) PushOption { return func(m *Message) { m.body.putTime("due", due) } }

// Header adds a header.
func Header(name, value string) PushOption { return Headers(map[string]string{name: value}) }

// Headers adds headers.
func Headers(headers map[string]string) PushOption {
	return func(m *Message) {
		if m.headers == nil {
			m.headers = map[string]string{}
		}
		for name, value := range headers {
			m.headers[name] = value
		}
	}
}

// Priority of the message: smaller ones are delivered first; the default is 1024.
func Priority(priority uint32) PushOption {
	return func(m *Message) { m.body["priority"] = priority }
}

// OnExisting is what the push does if the key is taken; the default is the queue's.
func OnExisting(rule IfExists) PushOption {
	return func(m *Message) { m.body["if_exists"] = rule }
}

// MaxAttempts is after how many attempts the message is dead; the default is the queue's.
func MaxAttempts(attempts int) PushOption {
	return func(m *Message) { m.body["max_attempts"] = attempts }
}

// Expire is how long after its due time the message ends undelivered; the default is the queue's.
func Expire(after time.Duration) PushOption {
	return func(m *Message) { m.body.putDuration("expire", &after) }
}

// ExpireAt is when the message ends undelivered. Instead of Expire.
func ExpireAt(at time.Time) PushOption {
	return func(m *Message) { m.body.putTime("expire_at", at) }
}

// Spread lets the message be due up to this later, when the queue has least to do. The answer says
// when.
func Spread(spread time.Duration) PushOption {
	return func(m *Message) { m.body.putDuration("spread", &spread) }
}

// NewMessage makes a message for PushMany. Without Delay and Due it is due now.
func NewMessage(payload []byte, options ...PushOption) Message {
	message := Message{body: fields{}}
	message.body.put("payload", string(payload))
	for _, option := range options {
		option(&message)
	}
	return message
}

// NewJSON makes a message whose payload is the value as JSON. If the value cannot be written as
// JSON, the push of the message says so.
func NewJSON[T any](value T, options ...PushOption) Message {
	payload, err := json.Marshal(value)
	message := NewMessage(payload, options...)
	message.err = err
	return message
}

func (m Message) item(ctx context.Context) (json.RawMessage, error) {
	if m.err != nil {
		return nil, &Error{Code: "invalid_argument", Message: "payload: " + m.err.Error(),
			cause: m.err}
	}
	if m.body == nil {
		m.body = fields{}
	}
	headers := m.headers
	if trace := TraceOf(ctx); trace.Parent != "" && headers["traceparent"] == "" {
		headers = map[string]string{"traceparent": trace.Parent}
		if trace.State != "" {
			headers["tracestate"] = trace.State
		}
		for name, value := range m.headers {
			headers[name] = value
		}
	}
	if len(headers) == 0 {
		return m.body.encode(), nil
	}
	whole := fields{"headers": headers}
	for name, value := range m.body {
		whole[name] = value
	}
	return whole.encode(), nil
}

// Move is an item of RescheduleMany. NewMove makes it.
type Move struct{ body fields }

// NewMove gives a message another due time: Delay or Due, and Priority if it changes too.
func NewMove(key string, options ...PushOption) Move {
	message := Message{body: fields{}}
	for _, option := range append(options, Key(key)) {
		option(&message)
	}
	return Move{message.body}
}

// Verdict is how a claim ends. A handler returns it as its error; nil means Ack.
type Verdict struct {
	action string
	body   fields
}

// Error makes a verdict something that a handler can return.
func (v Verdict) Error() string { return "verdict: " + v.action }

// Ack ends a claim: done.
func Ack() Verdict { return Verdict{action: "ack"} }

// Retry: again after the queue's backoff. The attempt counts. The reason is kept if it was the last.
func Retry(reason string) Verdict { return verdict("retry", reason) }

// RetryAfter: again after this delay. The attempt counts.
func RetryAfter(delay time.Duration, reason string) Verdict {
	v := verdict("retry", reason)
	v.body.putDuration("delay", &delay)
	return v
}

// Release: again now; the attempt does not count.
func Release() Verdict { return Verdict{action: "release"} }

// Bury: to the dead, at once.
func Bury(reason string) Verdict { return verdict("bury", reason) }

// WithPriority gives the message another priority; not with Ack.
func (v Verdict) WithPriority(priority uint32) Verdict {
	body := fields{"priority": priority}
	for name, value := range v.body {
		body[name] = value
	}
	return Verdict{v.action, body}
}

const maxReason = 255 // bytes

func verdict(action, reason string) Verdict {
	v := Verdict{action, fields{}}
	if len(reason) > maxReason {
		cut := maxReason
		for cut > maxReason-utf8.UTFMax && !utf8.RuneStart(reason[cut]) {
			cut--
		}
		reason = reason[:cut]
	}
	if reason != "" {
		v.body.put("reason", reason)
	}
	return v
}

func (v Verdict) item(receipt string) json.RawMessage {
	body := fields{"receipt": receipt, "action": v.action}
	for name, value := range v.body {
		body[name] = value
	}
	return body.encode()
}

// SettleItem is an item of SettleMany.
type SettleItem struct {
	Receipt string
	Verdict Verdict
}

// ExtendItem is an item of ExtendMany. The lease begins anew; 0 is the queue's lease.
type ExtendItem struct {
	Receipt string
	Lease   time.Duration
}

func (e ExtendItem) item() json.RawMessage {
	body := fields{"receipt": e.Receipt}
	if e.Lease != 0 {
		body.putDuration("lease", &e.Lease)
	}
	return body.encode()
}
