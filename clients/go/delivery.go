package tarry

import (
	"context"
	"encoding/json"
	"sync"
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
