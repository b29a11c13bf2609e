// tarry's own client for Go. Each producer and each consumer has a client, so that no two of them
// share a request.
package main

import (
	"context"
	"fmt"
	"time"

	"tarry.io/bench/rivals/drive"
	"tarry.io/go/tarry"
)

type rival struct{ address string }

func main() {
	drive.Main(func(address string) (drive.Rival, error) { return rival{address}, nil })
}

func (r rival) Producer() (drive.Push, error) {
	client, err := tarry.New(r.address)
	if err != nil {
		return nil, err
	}
	queue := client.Queue("bench")
	return func(payloads [][]byte, delay time.Duration) error {
		messages := make([]tarry.Message, len(payloads))
		for index, payload := range payloads {
			messages[index] = tarry.NewMessage(payload, tarry.Delay(delay))
		}
		results, err := queue.PushMany(context.Background(), messages)
		for _, result := range results {
			if err == nil {
				err = result.Err
			}
		}
		return err
	}, nil
}

func (r rival) Consume(batch int, settled func([]byte)) error {
	return drive.ForEach(func() error {
		client, err := tarry.New(r.address)
		if err != nil {
			return err
		}
		queue := client.Queue("bench")
		for {
			messages, err := queue.Claim(context.Background(), tarry.Max(batch), tarry.Wait(time.Second))
			if err != nil {
				return err
			}
			if err := settle(client, messages); err != nil {
				return err
			}
			for _, message := range messages {
				settled(message.Payload)
			}
		}
	})
}

func settle(client *tarry.Client, messages []tarry.Claimed) error {
	if len(messages) == 0 {
		return nil
	}
	items := make([]tarry.SettleItem, len(messages))
	for index, message := range messages {
		items[index] = tarry.SettleItem{Receipt: message.Receipt, Verdict: tarry.Ack()}
	}
	results, err := client.SettleMany(context.Background(), items)
	if err != nil {
		return err
	}
	for _, result := range results {
		if result.Err != nil {
			return fmt.Errorf("a settlement: %w", result.Err)
		}
	}
	return nil
}
