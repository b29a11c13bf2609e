// asynq fill|work REDIS-ADDRESS COUNT: pushes so many tasks, or works on them with asynq's default
// settings and prints the seconds from first to last.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
)

func main() {
	redis := asynq.RedisClientOpt{Addr: os.Args[2]}
	count, err := strconv.ParseInt(os.Args[3], 10, 64)
	if err != nil {
		panic(err)
	}
	if os.Args[1] == "fill" {
		client := asynq.NewClient(redis)
		for number := int64(0); number < count; number++ {
			if _, err := client.Enqueue(asynq.NewTask("bench", bytes.Repeat([]byte("x"), 100))); err != nil {
				panic(err)
			}
		}
		return
	}
	var seen atomic.Int64
	var began time.Time
	done := make(chan float64, 1)
	server := asynq.NewServer(redis, asynq.Config{LogLevel: asynq.ErrorLevel})
	handler := asynq.HandlerFunc(func(context.Context, *asynq.Task) error {
		switch seen.Add(1) {
		case 1:
			began = time.Now()
		case count:
			done <- time.Since(began).Seconds()
		}
		return nil
	})
	if err := server.Start(handler); err != nil {
		panic(err)
	}
	fmt.Println(<-done)
	server.Shutdown()
}
