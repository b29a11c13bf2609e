// RabbitMQ without a plugin: messages with a time to live wait in a queue that nobody reads, and an
// expired one is dead-lettered to the queue that the consumers read. Durable classic queues,
// persistent messages, publisher confirms and explicit acks; all delays of a run are equal, since an
// expired message leaves only from the head of its queue.
package main

import (
	"context"
	"errors"
	"strconv"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"tarry.io/bench/rivals/drive"
)

type rival struct{ address string }

func main() {
	drive.Main(func(address string) (drive.Rival, error) {
		channel, err := connected(address)
		if err != nil {
			return nil, err
		}
		if _, err := channel.QueueDeclare("due", true, false, false, false, nil); err != nil {
			return nil, err
		}
		_, err = channel.QueueDeclare("waiting", true, false, false, false, amqp.Table{
			"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "due"})
		return rival{address}, err
	})
}

func connected(address string) (*amqp.Channel, error) {
	connection, err := amqp.Dial(address)
	if err != nil {
		return nil, err
	}
	return connection.Channel()
}

func (r rival) Producer() (drive.Push, error) {
	channel, err := connected(r.address)
	if err != nil {
		return nil, err
	}
	if err := channel.Confirm(false); err != nil {
		return nil, err
	}
	return func(payloads [][]byte, delay time.Duration) error {
		sent := make([]*amqp.DeferredConfirmation, len(payloads))
		for index, payload := range payloads {
			sent[index], err = channel.PublishWithDeferredConfirm("", "waiting", false, false,
				amqp.Publishing{DeliveryMode: amqp.Persistent, Body: payload,
					Expiration: strconv.FormatInt(delay.Milliseconds(), 10)})
			if err != nil {
				return err
			}
		}
		for _, one := range sent {
			if confirmed, err := one.WaitContext(context.Background()); err != nil || !confirmed {
				return errors.Join(err, errors.New("a message was not confirmed"))
			}
		}
		return nil
	}, nil
}

// Consume takes one message at a time, or acks each batch at once.
func (r rival) Consume(batch int, settled func([]byte)) error {
	return drive.ForEach(func() error {
		channel, err := connected(r.address)
		if err != nil {
			return err
		}
		if err := channel.Qos(2*batch-1, 0, false); err != nil {
			return err
		}
		deliveries, err := channel.Consume("due", "", false, false, false, false, nil)
		if err != nil {
			return err
		}
		var held []amqp.Delivery
		for delivery := range deliveries {
			held = append(held, delivery)
			if len(held) < batch && len(deliveries) > 0 {
				continue
			}
			if err := delivery.Ack(true); err != nil {
				return err
			}
			for _, one := range held {
				settled(one.Body)
			}
			held = held[:0]
		}
		return errors.New("the connection is closed")
	})
}
