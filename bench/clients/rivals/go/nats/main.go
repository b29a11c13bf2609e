// NATS JetStream's scheduled messages: a message with a schedule becomes, when it is due, one of the
// subject that a pull consumer reads. An ack waits for the server's word, as tarry's settle does; of
// a batch, the last one does.
package main

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"tarry.io/bench/rivals/drive"
)

const lease = time.Minute

type rival struct{ address string }

func main() {
	drive.Main(func(address string) (drive.Rival, error) {
		_, err := consumer(address)
		return rival{address}, err
	})
}

func connected(address string) (jetstream.JetStream, error) {
	connection, err := nats.Connect(address)
	if err != nil {
		return nil, err
	}
	return jetstream.New(connection)
}

// consumer makes the stream too. With its retention an acked message is gone, as in a queue.
func consumer(address string) (jetstream.Consumer, error) {
	stream, err := connected(address)
	if err != nil {
		return nil, err
	}
	_, err = stream.CreateOrUpdateStream(context.Background(), jetstream.StreamConfig{
		Name: "bench", Subjects: []string{"schedules.>", "due"},
		Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage,
		AllowMsgSchedules: true})
	if err != nil {
		return nil, err
	}
	return stream.CreateOrUpdateConsumer(context.Background(), "bench", jetstream.ConsumerConfig{
		Durable: "work", AckPolicy: jetstream.AckExplicitPolicy, FilterSubject: "due",
		AckWait: lease, MaxAckPending: -1})
}

// scheduled has a subject of its own: a later schedule of the same subject would replace it.
func scheduled(payload []byte, due time.Time) *nats.Msg {
	message := nats.NewMsg("schedules." + nuid.Next())
	message.Header.Set("Nats-Schedule", "@at "+due.UTC().Format(time.RFC3339Nano))
	message.Header.Set("Nats-Schedule-Target", "due")
	message.Data = payload
	return message
}

func (r rival) Producer() (drive.Push, error) {
	stream, err := connected(r.address)
	if err != nil {
		return nil, err
	}
	return func(payloads [][]byte, delay time.Duration) error {
		due := time.Now().Add(delay)
		if len(payloads) == 1 {
			_, err := stream.PublishMsg(context.Background(), scheduled(payloads[0], due))
			return err
		}
		sent := make([]jetstream.PubAckFuture, len(payloads))
		for index, payload := range payloads {
			if sent[index], err = stream.PublishMsgAsync(scheduled(payload, due)); err != nil {
				return err
			}
		}
		for _, one := range sent {
			select {
			case <-one.Ok():
			case err := <-one.Err():
				return err
			}
		}
		return nil
	}, nil
}

func (r rival) Consume(batch int, settled func([]byte)) error {
	return drive.ForEach(func() error {
		work, err := consumer(r.address)
		if err != nil {
			return err
		}
		for {
			fetched, err := work.Fetch(batch, jetstream.FetchMaxWait(time.Second))
			if err != nil {
				return err
			}
			if err := settle(fetched, settled); err != nil {
				return err
			}
		}
	})
}

func settle(fetched jetstream.MessageBatch, settled func([]byte)) error {
	var held jetstream.Msg
	for message := range fetched.Messages() {
		if held != nil {
			if err := held.Ack(); err != nil {
				return err
			}
			settled(held.Data())
		}
		held = message
	}
	if err := fetched.Error(); err != nil && !errors.Is(err, nats.ErrTimeout) {
		return err
	}
	if held == nil {
		return nil
	}
	err := held.DoubleAck(context.Background())
	if err == nil {
		settled(held.Data())
	}
	return err
}
