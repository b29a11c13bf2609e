package tarry

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// ClaimOption is a property of a claim.
type ClaimOption func(*call, fields)

// Max is how many messages are claimed at most; the default is 1.
func Max(messages int) ClaimOption {
	return func(_ *call, body fields) { body["max"] = messages }
}

// MaxBytes is at how many bytes of payload a claim stops; it always claims one message.
func MaxBytes(size int64) ClaimOption {
	return func(_ *call, body fields) { body["max_bytes"] = size }
}

// Lease is how long the claim holds; the default is the queue's.
func Lease(lease time.Duration) ClaimOption {
	return func(_ *call, body fields) { body.putDuration("lease", &lease) }
}

// Wait is how long the claim waits for a first message; the default is not to wait.
func Wait(wait time.Duration) ClaimOption {
	return func(one *call, body fields) {
		one.wait = wait
		body.putDuration("wait", &wait)
	}
}

// Keys claims only these messages, of the one queue named.
func Keys(keys ...string) ClaimOption {
	return func(_ *call, body fields) { body.putKeys(keys) }
}

// AnyState claims scheduled and dead messages too; with Keys.
func AnyState() ClaimOption { return func(_ *call, body fields) { body["any_state"] = true } }

// claimed is the answer to a claim: the messages, what became of the settlements that went with it,
// and why it failed after them.
type claimed struct {
	messages []Claimed
	waitedMS *int64
	settled  []Result[SettleResult]
	failed   error
	count    int // of those settlements
}

// saidClaimed is a message as the server writes it, and saidSettled a result. They have no
// UnmarshalJSON: for a type that has one, encoding/json reads the bytes three times.
type saidClaimed struct {
	plainClaimed
	said
}
type plainClaimed Claimed
type saidSettled struct {
	SettleResult
	Error *itemError
}

func (c *claimed) read(data []byte) error {
	var answer struct {
		Messages []saidClaimed `json:"messages"`
		WaitedMS *int64        `json:"waited_ms"`
		Settled  []saidSettled
		Error    *itemError
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return err
	}
	if c.count != 0 && len(answer.Settled) != c.count {
		return fmt.Errorf("%d results for %d items", len(answer.Settled), c.count)
	}
	c.waitedMS = answer.WaitedMS
	if answer.Error != nil {
		c.failed = answer.Error.of()
	}
	for _, one := range answer.Messages {
		message := Claimed(one.plainClaimed)
		message.Key, message.Payload = one.key(), one.payload()
		c.messages = append(c.messages, message)
	}
	for _, one := range answer.Settled {
		result := Result[SettleResult]{Value: one.SettleResult}
		if one.Error != nil {
			result.Err = one.Error.of()
		}
		c.settled = append(c.settled, result)
	}
	return nil
}

func claimCall(queues []string, given []ClaimOption) call {
	one := call{method: "POST", path: "/v1/claim"}
	if queues == nil {
		queues = []string{}
	}
	body := fields{"queues": queues}
	for _, option := range given {
		option(&one, body)
	}
	one.body = body.encode()
	return one
}

// Claim claims due messages of one or more queues. When the context ends, the claim is withdrawn.
// Measure leases from before this call; a Worker does it for you.
func (c *Client) Claim(ctx context.Context, queues []string, given ...ClaimOption) ([]Claimed, error) {
	var answer claimed
	err := c.run(ctx, claimCall(queues, given), &answer)
	return answer.messages, err
}
