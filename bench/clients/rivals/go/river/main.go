// River on PostgreSQL. Its workers are goroutines of one client, which fetches jobs for all that are
// free, at most once in 100 ms. With as few workers as others have consumers it would do 40 jobs a
// second, with the 100 of its examples 1,000; so it has 1,000.
package main

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"tarry.io/bench/rivals/drive"
)

const workers = 1000

// Args is a job.
type Args struct {
	Payload string `json:"payload"`
}

// Kind is the job's name in the table.
func (Args) Kind() string { return "bench" }

type worker struct {
	river.WorkerDefaults[Args]
	settled func([]byte)
}

func (w worker) Work(_ context.Context, job *river.Job[Args]) error {
	w.settled([]byte(job.Args.Payload))
	return nil
}

type rival struct {
	pool   *pgxpool.Pool
	worker *river.Client[pgx.Tx]
}

func main() {
	drive.Main(func(address string) (drive.Rival, error) {
		pool, err := pgxpool.New(context.Background(), address)
		if err != nil {
			return nil, err
		}
		migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
		if err != nil {
			return nil, err
		}
		_, err = migrator.Migrate(context.Background(), rivermigrate.DirectionUp, nil)
		return &rival{pool: pool}, err
	})
}

func (r *rival) client(config river.Config) (*river.Client[pgx.Tx], error) {
	config.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	return river.NewClient(riverpgxv5.New(r.pool), &config)
}

func (r *rival) Producer() (drive.Push, error) {
	client, err := r.client(river.Config{})
	if err != nil {
		return nil, err
	}
	return func(payloads [][]byte, delay time.Duration) error {
		options := river.InsertOpts{}
		if delay > 0 {
			options.ScheduledAt = time.Now().Add(delay)
		}
		if len(payloads) == 1 {
			_, err := client.Insert(context.Background(), Args{string(payloads[0])}, &options)
			return err
		}
		jobs := make([]river.InsertManyParams, len(payloads))
		for index, payload := range payloads {
			jobs[index] = river.InsertManyParams{Args: Args{string(payload)}, InsertOpts: &options}
		}
		_, err := client.InsertManyFast(context.Background(), jobs)
		return err
	}, nil
}

func (r *rival) Consume(_ int, settled func([]byte)) error {
	all := river.NewWorkers()
	river.AddWorker(all, worker{settled: settled})
	client, err := r.client(river.Config{
		Workers: all, Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workers}}})
	if err != nil {
		return err
	}
	r.worker = client
	return client.Start(context.Background())
}

// Close ends the client's leadership, or the next one's scheduled jobs would wait until it lapses.
func (r *rival) Close() error {
	if r.worker == nil {
		return nil
	}
	return r.worker.Stop(context.Background())
}
