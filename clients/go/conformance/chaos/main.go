// chaos URL LOG: the worker of clients/python/tests/chaos.py. It writes a line to the file LOG when a
// delivery begins, and one when it ends.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"tarry.io/go/tarry"
)

const lease = 2 * time.Second

func main() {
	log, err := os.OpenFile(os.Args[2], os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		panic(err)
	}
	client, err := tarry.New(os.Args[1], tarry.WithTimeout(5*time.Second))
	if err != nil {
		panic(err)
	}
	note := func(what string, one *tarry.Delivery) {
		at := float64(time.Now().UnixNano()) / 1e9
		fmt.Fprintf(log, "%f %d %s %s %d\n", at, os.Getpid(), what, one.Key, one.Attempt)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	options := tarry.WorkerOptions{Lease: lease}
	_, err = client.Queue("chaos").Work(ctx, options, func(_ context.Context, one *tarry.Delivery) error {
		note("begin", one)
		if id, _ := strconv.Atoi(one.ID); id%200 == 0 && one.Attempt == 1 {
			time.Sleep(lease * 3 / 2)
		}
		note("end", one)
		return nil
	})
	if err != nil {
		panic(err)
	}
}
