// asynq on Redis. A server's workers are goroutines of one process; the client has no batches.
//
// ADDRESS work COUNT, for scripts/bench clients: works on as many tasks with asynq's default
// settings, and prints the seconds from first to last.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"

	"tarry.io/bench/rivals/drive"
)

// As in its README. They share one loop that fetches tasks, so they are not consumers of their own.
const handlers = 10

type rival struct {
	redis  asynq.RedisClientOpt
	server *asynq.Server
}

func main() {
	if len(os.Args) == 4 && os.Args[2] == "work" {
		count, err := strconv.ParseInt(os.Args[3], 10, 64)
		drive.Check(err)
		work(&rival{redis: asynq.RedisClientOpt{Addr: os.Args[1]}}, count)
		return
	}
	drive.Main(func(address string) (drive.Rival, error) {
		return &rival{redis: asynq.RedisClientOpt{Addr: address}}, nil
	})
}

func (r *rival) Producer() (drive.Push, error) {
	client := asynq.NewClient(r.redis)
	return func(payloads [][]byte, delay time.Duration) error {
		for _, payload := range payloads {
			if _, err := client.Enqueue(asynq.NewTask("bench", payload), asynq.ProcessIn(delay)); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

func (r *rival) Consume(_ int, settled func([]byte)) error {
	return r.start(asynq.Config{Concurrency: handlers}, settled)
}

func (r *rival) start(config asynq.Config, settled func([]byte)) error {
	config.LogLevel = asynq.ErrorLevel
	r.server = asynq.NewServer(r.redis, config)
	return r.server.Start(
		asynq.HandlerFunc(func(_ context.Context, task *asynq.Task) error {
			settled(task.Payload())
			return nil
		}))
}

// Close lets the last handlers' tasks be settled.
func (r *rival) Close() error {
	if r.server != nil {
		r.server.Shutdown()
	}
	return nil
}

func work(r *rival, count int64) {
	var seen atomic.Int64
	var began time.Time
	done := make(chan float64, 1)
	drive.Check(r.start(asynq.Config{}, func([]byte) {
		switch seen.Add(1) {
		case 1:
			began = time.Now()
		case count:
			done <- time.Since(began).Seconds()
		}
	}))
	fmt.Println(<-done)
	drive.Check(r.Close())
}
