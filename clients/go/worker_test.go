package tarry_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"tarry.io/go/tarry"
	"tarry.io/go/tarry/tarrytest"
)

func TestAWorkerServesQueuesUntilItsContextEnds(t *testing.T) {
	server := tarrytest.Start(t)
	client := server.Client()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	messages := make([]tarry.Message, 300)
	for number := range messages {
		messages[number] = tarry.NewJSON(map[string]int{"number": number})
	}
	if _, err := client.Queue("a").PushMany(ctx, messages); err != nil {
		t.Fatal(err)
	}
	worker, err := client.NewWorker(tarry.WorkerOptions{Concurrency: 8, Prefetch: 32})
	if err != nil {
		t.Fatal(err)
	}
	var sum, seen atomic.Int64
	type payload struct{ Number int64 }
	worker.Handle("a", tarry.JSON(func(_ context.Context, _ *tarry.Delivery, one payload) error {
		sum.Add(one.Number)
		if seen.Add(1) == 300 {
			stop()
		}
		return nil
	}))
	counts, err := worker.Run(ctx)
	if err != nil || sum.Load() != 299*300/2 || counts.Acked != 300 || counts.Stale != 0 {
		t.Error(sum.Load(), counts, err)
	}
	if _, err := worker.Run(ctx); !errors.Is(err, tarry.ErrInvalid) {
		t.Error("a worker ran twice:", err)
	}
}

func TestADrainThatIsOverEndsTheHandlersContext(t *testing.T) {
	server := tarrytest.Start(t)
	queue := server.Client().Queue("a")
	ctx, stop := context.WithCancel(context.Background())
	if _, err := queue.Push(ctx, nil); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	options := tarry.WorkerOptions{Drain: time.Millisecond}
	_, err := queue.Work(ctx, options, func(ctx context.Context, one *tarry.Delivery) error {
		stop()
		<-one.Stopping()
		<-ctx.Done()
		ended <- ctx.Err()
		return nil
	})
	if err != nil || !errors.Is(<-ended, context.Canceled) {
		t.Error(err)
	}
}

func TestATraceTravelsFromThePushToTheHandler(t *testing.T) {
	queue := tarrytest.Start(t).Client().Queue("a")
	trace := tarry.Trace{Parent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
	ctx := tarry.WithTrace(context.Background(), trace)
	if _, err := queue.Push(ctx, []byte("one")); err != nil {
		t.Fatal(err)
	}
	count, err := queue.WorkOff(context.Background(), func(ctx context.Context, _ *tarry.Delivery) error {
		if tarry.TraceOf(ctx) != trace {
			t.Error(tarry.TraceOf(ctx))
		}
		return nil
	})
	if count != 1 || err != nil {
		t.Error(count, err)
	}
}

func TestARefusalThatDoesNotPassEndsTheWorker(t *testing.T) {
	server := tarrytest.Start(t)
	worker, _ := server.Client().NewWorker(tarry.WorkerOptions{})
	worker.Handle("-bad", func(context.Context, *tarry.Delivery) error { return nil })
	if _, err := worker.Run(context.Background()); !errors.Is(err, tarry.ErrInvalid) {
		t.Error(err)
	}
}
