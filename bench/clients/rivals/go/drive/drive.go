// Package drive measures a queue through the client that its users have. Each program here gives it
// a Rival, and is called as
//
//	PROGRAM ADDRESS rate SECONDS BATCH      messages that are due at once
//	PROGRAM ADDRESS late SECONDS A_SECOND   messages that are due a second later, one at a time
//	PROGRAM ADDRESS fill COUNT SECONDS      messages that are due after that time, and stay there
//
// It prints one line of JSON. Programs in other languages keep the same contract.
package drive

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

const (
	// Clients is the number of producers, and of consumers.
	Clients         = 4
	mostOutstanding = 5000
	payloadBytes    = 100
	fillBatch       = 100
	lateDelay       = time.Second
	longestDrain    = 120 * time.Second
	warmPart        = 3 // one part of so many does not count, since clients and servers warm up
)

// Push sends messages, and returns when the server has accepted them. Several are one batch, unless
// the rival's client has no batches.
type Push func(payloads [][]byte, delay time.Duration) error

// Rival is a queue as its client shows it.
type Rival interface {
	// Producer is called once for each producer.
	Producer() (Push, error)
	// Consume starts the consumers, which run until the program ends. They call `settled` for each
	// message, from any thread.
	Consume(batch int, settled func(payload []byte)) error
}

// Closer is a Rival that has to say goodbye to its server.
type Closer interface{ Close() error }

// Main carries out the command line for the rival that `open` makes of the address.
func Main(open func(address string) (Rival, error)) {
	if len(os.Args) != 5 {
		fmt.Fprintf(os.Stderr, "usage: %s ADDRESS rate|late|fill NUMBER NUMBER\n", os.Args[0])
		os.Exit(2)
	}
	rival, err := open(os.Args[1])
	Check(err)
	first, second := number(os.Args[3]), number(os.Args[4])
	var told any
	switch os.Args[2] {
	case "rate":
		told = rate(rival, time.Duration(first*float64(time.Second)), int(second))
	case "late":
		told = late(rival, time.Duration(first*float64(time.Second)), second)
	case "fill":
		told = fill(rival, int(first), time.Duration(second*float64(time.Second)))
	default:
		Check(fmt.Errorf("no verb %q", os.Args[2]))
	}
	if closer, ok := rival.(Closer); ok {
		Check(closer.Close())
	}
	Check(json.NewEncoder(os.Stdout).Encode(told))
}

// Check ends the program with exit code 1 if there is an error.
func Check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// ForEach runs as many as Clients at once, which only end by an error.
func ForEach(consume func() error) error {
	for range Clients {
		go func() { Check(consume()) }()
	}
	return nil
}

func number(word string) float64 {
	value, err := strconv.ParseFloat(word, 64)
	Check(err)
	return value
}

// inTurns gives each producer its own Push, and returns when all have ended.
func inTurns(rival Rival, produce func(push Push)) {
	var producers sync.WaitGroup
	for range Clients {
		push, err := rival.Producer()
		Check(err)
		producers.Go(func() { produce(push) })
	}
	producers.Wait()
}
