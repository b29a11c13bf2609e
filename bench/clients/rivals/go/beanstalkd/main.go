// beanstalkd, one connection for each producer and consumer. Its client sends one command after the
// other, so it has no batches.
package main

import (
	"errors"
	"time"

	"github.com/beanstalkd/go-beanstalk"

	"tarry.io/bench/rivals/drive"
)

const (
	priority = 0
	toRun    = time.Minute
)

type rival struct{ address string }

func main() {
	drive.Main(func(address string) (drive.Rival, error) { return rival{address}, nil })
}

func (r rival) Producer() (drive.Push, error) {
	connection, err := beanstalk.Dial("tcp", r.address)
	if err != nil {
		return nil, err
	}
	return func(payloads [][]byte, delay time.Duration) error {
		for _, payload := range payloads {
			if _, err := connection.Put(payload, priority, delay, toRun); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

func (r rival) Consume(_ int, settled func([]byte)) error {
	return drive.ForEach(func() error {
		connection, err := beanstalk.Dial("tcp", r.address)
		if err != nil {
			return err
		}
		for {
			id, payload, err := connection.Reserve(time.Second)
			if errors.Is(err, beanstalk.ErrTimeout) {
				continue
			}
			if err != nil {
				return err
			}
			if err := connection.Delete(id); err != nil {
				return err
			}
			settled(payload)
		}
	})
}
