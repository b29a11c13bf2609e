package tarry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestErrorsSayWhatToDo(t *testing.T) {
	for _, one := range []struct {
		status     int
		code, next string
		kind       error
	}{
		{503, "closing", "retry_later", ErrUnavailable}, {503, "no_space", "make_room", ErrNoSpace},
		{502, "", "look_first", ErrUnknownOutcome}, {429, "", "retry_later", ErrUnavailable},
		{401, "", "fix_the_token", ErrPermission}, {418, "teapot", "fix_the_input", ErrInvalid},
		{500, "io_error", "page_someone", ErrServer},
	} {
		err := error(problemOf(one.status, one.code, "why"))
		if !errors.Is(err, one.kind) || asError(err).Next() != one.next {
			t.Errorf("%d %s: %v", one.status, one.code, err)
		}
	}
}

func TestResultsAreWrittenAsJSON(t *testing.T) {
	lost := &Error{Code: "unknown_outcome", Message: "lost", Status: 500}
	results := []Result[SettleResult]{{Value: SettleResult{Outcome: Done}}, {Err: lost}}
	written, err := json.Marshal(results)
	wanted := `[{"outcome":"done"},{"error":{"code":"unknown_outcome","message":"lost",` +
		`"next":"look_first","status":500}}]`
	if err != nil || string(written) != wanted {
		t.Fatal(string(written), err)
	}
}

func TestBadAddressesAreRefused(t *testing.T) {
	for _, address := range []string{"ftp://a", "http://", "http://a/path", "http+unix://a/b", "a:b:c",
		"http://user:secret@host"} {
		_, err := New(address)
		if !errors.Is(err, ErrInvalid) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := New("https://host:1", WithCA("/nowhere")); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
}

func TestBytesThatAreNotUTF8(t *testing.T) {
	item, err := NewMessage([]byte{0xff}, Key("\xff"), Delay(time.Second)).item(context.Background())
	if err != nil || string(item) != `{"delay_ms":1000,"key_base64":"/w==","payload_base64":"/w=="}` {
		t.Error(string(item), err)
	}
	var back Claimed
	if err := json.Unmarshal([]byte(`{"key_base64":"/w==","payload":"é"}`), &back); err != nil ||
		back.Key != "\xff" || string(back.Payload) != "é" {
		t.Error(back, err)
	}
}

func TestAMessageExpires(t *testing.T) {
	message := NewMessage(nil, Expire(2*time.Second), ExpireAt(time.UnixMilli(5)))
	item, err := message.item(context.Background())
	if err != nil || !strings.Contains(string(item), `"expire_at_ms":5,"expire_ms":2000`) {
		t.Error(string(item), err)
	}
}

func TestReasonsAreCutBetweenLetters(t *testing.T) {
	item := Bury(strings.Repeat("é", 200)).item("r")
	var said struct{ Reason string }
	if err := json.Unmarshal(item, &said); err != nil || said.Reason != strings.Repeat("é", 127) {
		t.Error(len(said.Reason), err)
	}
}

func TestBackoffIsBounded(t *testing.T) {
	var waits backoff
	for number := 0; number < 50; number++ {
		pause := waits.next()
		if pause < 50*time.Millisecond || pause > 5*time.Second {
			t.Fatal(number, pause)
		}
	}
}

// A joiner whose requests wait until the test lets them go.
type gate struct {
	joiner
	requests chan []json.RawMessage
	answers  chan error
}

func newGate() *gate {
	g := &gate{requests: make(chan []json.RawMessage), answers: make(chan error)}
	g.joiner = joiner{lanes: map[lane][]*joined{}, send: func(_ context.Context, _ lane,
		items []json.RawMessage) ([]itemResult, error) {
		g.requests <- items
		err := <-g.answers
		results := make([]itemResult, len(items))
		for index := range items {
			results[index].raw = items[index]
		}
		return results, err
	}}
	return g
}

func (g *gate) waiting(l lane) int {
	g.lock.Lock()
	defer g.lock.Unlock()
	return len(g.lanes[l])
}

func TestCallsGoTogetherWhileARequestIsUnderWay(t *testing.T) {
	g, l := newGate(), lane{"/p", "items", false}
	var all sync.WaitGroup
	ask := func(item string) {
		all.Add(1)
		go func() {
			defer all.Done()
			got, err := g.ask(context.Background(), l, json.RawMessage(item))
			if err != nil || string(got.raw) != item {
				t.Error(item, string(got.raw), err)
			}
		}()
	}
	ask("1")
	if first := <-g.requests; len(first) != 1 {
		t.Error(len(first))
	}
	for number := 2; number < 12; number++ {
		ask(fmt.Sprint(number))
	}
	for g.waiting(l) < 10 {
		time.Sleep(time.Millisecond)
	}
	g.answers <- nil
	if second := <-g.requests; len(second) != 10 {
		t.Error(len(second))
	}
	g.answers <- nil
	all.Wait()
}

func TestACallThatIsGivenUp(t *testing.T) {
	g, l := newGate(), lane{"/p", "items", false}
	ctx, cancel := context.WithCancel(context.Background())
	failed := make(chan error, 2)
	ask := func(item string) {
		_, err := g.ask(ctx, l, json.RawMessage(item))
		failed <- err
	}
	go ask("1")
	<-g.requests
	go ask("2")
	for g.waiting(l) < 1 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	kinds := map[bool]int{}
	for number := 0; number < 2; number++ {
		err := <-failed
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		kinds[errors.Is(err, ErrUnknownOutcome)]++
	}
	if kinds[true] != 1 || kinds[false] != 1 || g.waiting(l) != 0 {
		t.Error(kinds, g.waiting(l))
	}
	g.answers <- nil
}

func TestOneBadItemDoesNotFailTheOthers(t *testing.T) {
	j := joiner{send: func(_ context.Context, _ lane, items []json.RawMessage) ([]itemResult, error) {
		for _, item := range items {
			if string(item) == "bad" {
				return nil, &Error{Code: "too_large"}
			}
		}
		return make([]itemResult, len(items)), nil
	}}
	results := j.results(lane{}, []json.RawMessage{json.RawMessage("a"), json.RawMessage("bad")})
	if results[0].err != nil || !errors.Is(results[1].err, ErrInvalid) {
		t.Error(results)
	}
}

func newBook() *book { return &book{held: map[string]*held{}} }

func claimOf(receipt string) Claimed { return Claimed{Receipt: receipt, LeaseMS: 30000} }

const second = time.Second

func settleAs(outcome Outcome, err error) []Result[SettleResult] {
	return []Result[SettleResult]{{SettleResult{Outcome: outcome}, err}}
}

func TestLeasesAreExtendedAfterAThird(t *testing.T) {
	b := newBook()
	one := b.hold(claimOf("a"), 100*second)
	if len(b.extensions(109*second)) != 0 || b.nextLook() != 110*second {
		t.Error(b.nextLook())
	}
	batch := b.extensions(110 * second)
	if len(batch) != 1 || len(b.extensions(110*second)) != 0 {
		t.Error("one extension at a time")
	}
	b.extended(batch, settleAs(Done, nil), 110*second, 111*second)
	if one.end != 140*second {
		t.Error("a lease counts from before its extension was sent:", one.end)
	}
	away := &Error{Code: "unavailable"}
	b.extended(b.extensions(120*second), settleAs("", away), 120*second, 121*second)
	if one.extendAt != 122*second || one.end != 140*second {
		t.Error(one.extendAt, one.end)
	}
	one.delivery = &Delivery{}
	if len(b.overdue(139*second)) != 0 || len(b.overdue(140*second)) != 1 || len(b.overdue(141*second)) != 0 {
		t.Error("a delivery is told once that its lease has ended")
	}
	b.end(one, Ack())
	if b.counts.Stale != 1 || b.isSettling() {
		t.Error("a lost claim is not settled:", b.counts)
	}
}

func TestSettlementsAreRepeatedWhileTheLeaseHolds(t *testing.T) {
	b := newBook()
	b.end(b.hold(claimOf("a"), 100*second), Ack())
	lost := &Error{Code: "unknown_outcome"}
	took, _ := b.settled(b.settlements(), settleAs("", lost), 129*second)
	if took || !b.isSettling() {
		t.Error("not repeated")
	}
	b.settled(b.settlements(), settleAs("", lost), 131*second)
	if b.isSettling() || b.counts.Stale != 1 {
		t.Error("repeated after its lease:", b.counts)
	}
	b.end(b.hold(claimOf("b"), 131*second), Bury("why"))
	took, _ = b.settled(b.settlements(), settleAs(Done, nil), 132*second)
	if !took || b.counts.Buried != 1 {
		t.Error(b.counts)
	}
}
