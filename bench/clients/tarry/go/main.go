// worker URL COUNT: handles that many messages of the queue bench; the seconds from first to last.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"tarry.io/go/tarry"
)

func main() {
	count, err := strconv.ParseInt(os.Args[2], 10, 64)
	if err != nil {
		panic(err)
	}
	client, err := tarry.New(os.Args[1])
	if err != nil {
		panic(err)
	}
	var seen atomic.Int64
	var began, ended time.Time
	ctx, stop := context.WithCancel(context.Background())
	_, err = client.Queue("bench").Work(ctx, tarry.WorkerOptions{},
		func(context.Context, *tarry.Delivery) error {
			switch seen.Add(1) {
			case 1:
				began = time.Now()
			case count:
				ended = time.Now()
				stop()
			}
			return nil
		})
	if err != nil {
		panic(err)
	}
	fmt.Println(ended.Sub(began).Seconds())
}
