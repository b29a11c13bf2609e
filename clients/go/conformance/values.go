// The protocol's values: requests as they are read, answers as they are written.
package main

import (
	"encoding/json"
	"errors"
	"os"
	"sync"
	"time"

	"tarry.io/go/tarry"
)

// object is JSON's object.
type object map[string]any

var writing sync.Mutex

// say writes a line, whole.
func say(line object) {
	writing.Lock()
	defer writing.Unlock()
	encoded, _ := json.Marshal(line)
	os.Stdout.Write(append(encoded, '\n'))
}

// request is a request, or a part of one.
type request struct {
	ID                         any
	Op, Queue, Name            string
	URL, Token, CA, Cert       string
	State, Prefix, After       string
	Action, Reason, Receipt    string
	Key, Payload               *string
	Priority                   *uint32
	Max, Limit, Buckets, Count *int
	Rate, Arrivals             *float64
	Concurrency, Prefetch      *int
	Queues                     []string
	Keys                       *[]string
	Headers                    map[string]string
	Force, All                 bool
	Message, Item              *request
	Messages, Items, Calls     []*request
	KeyBytes                   []byte          `json:"key_base64"`
	PayloadBytes               []byte          `json:"payload_base64"`
	IfExists                   *tarry.IfExists `json:"if_exists"`
	Objective                  *string
	MaxAttempts                *int  `json:"max_attempts"`
	AnyState                   *bool `json:"any_state"`
	When, Zone                 string
	Missed                     tarry.Missed
	Paused                     bool
	StartMS                    *int64 `json:"start_ms"`
	EndMS                      *int64 `json:"end_ms"`
	JitterMS                   *int64 `json:"jitter_ms"`
	FromMS                     *int64 `json:"from_ms"`
	DryRun                     bool   `json:"dry_run"`
	DueMS                      *int64 `json:"due_ms"`
	DelayMS                    *int64 `json:"delay_ms"`
	LeaseMS                    *int64 `json:"lease_ms"`
	WaitMS                     *int64 `json:"wait_ms"`
	ByMS                       *int64 `json:"by_ms"`
	DueFromMS                  *int64 `json:"due_from_ms"`
	DueToMS                    *int64 `json:"due_to_ms"`
	UntilMS                    *int64 `json:"until_ms"`
	BackoffMinMS               *int64 `json:"backoff_min_ms"`
	BackoffMaxMS               *int64 `json:"backoff_max_ms"`
	RememberMS                 *int64 `json:"remember_ms"`
	DeadKeepMS                 *int64 `json:"dead_keep_ms"`
	WidthMS                    *int64 `json:"width_ms"`
	DrainMS                    *int64 `json:"drain_ms"`
	PatienceMS                 *int64 `json:"patience_ms"`
	TimeoutMS                  *int64 `json:"timeout_ms"`
	MaxBytes                   *int64 `json:"max_bytes"`
}

// or is the value, or the type's zero.
func or[T any](value *T) (zero T) {
	if value == nil {
		return zero
	}
	return *value
}

// given is nil if there is no value.
func given[T any](value T, err error) *T {
	if err != nil {
		return nil
	}
	return &value
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
		return tarry.Ptr(string(coded))
	}
	return plain
}

func (f *request) key() *string    { return text(f.Key, f.KeyBytes) }
func (f *request) payload() []byte { return []byte(or(text(f.Payload, f.PayloadBytes))) }

// each makes an item of the library of each item of the request.
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

// shown is an answer: the value that a call returned, or its error.
func shown(value any, err error) object {
	var failed *tarry.Error
	if errors.As(err, &failed) {
		return object{"error": object{"code": failed.Code, "next": failed.Next(),
			"status": failed.Status, "message": failed.Message}}
	}
	switch said := value.(type) {
	case int64:
		value = object{"count": said}
	case bool:
		value = object{"paused": said}
	case tarry.Outcome:
		value = object{"outcome": said}
	case string:
		value = object{"key": said}
	case []tarry.QueueInfo:
		value = object{"queues": said}
	case []tarry.Schedule:
		value = object{"schedules": said}
	case []tarry.Occurrence:
		value = object{"occurrences": said}
	}
	return object{"ok": value}
}

func messages[T any](list []T, err error) (any, error) {
	return object{"messages": append([]T{}, list...)}, err
}

// batch has the value or the error of each item.
func batch[T any](results []tarry.Result[T], err error) (any, error) {
	items := []any{}
	for _, result := range results {
		if result.Err != nil {
			items = append(items, shown(nil, result.Err))
		} else {
			items = append(items, result.Value)
		}
	}
	return items, err
}

func (f *request) rates() []tarry.Rates {
	if f.Rate == nil {
		return nil
	}
	return []tarry.Rates{{Claims: *f.Rate, Arrivals: or(f.Arrivals)}}
}
