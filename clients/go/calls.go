package tarry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"
)

// call is one request. A repeatable one does the same a second time, and answers as truthfully.
type call struct {
	method, path string
	body         []byte
	repeatable   bool
	wait         time.Duration // that the server may take on purpose
}

// lane is where single calls may go together in one request: same path, same list.
type lane struct {
	path, name string
	repeatable bool
}

func (l lane) call(items []json.RawMessage) call {
	body := []byte(`{"` + l.name + `":[`)
	for index, item := range items {
		if index > 0 {
			body = append(body, ',')
		}
		body = append(body, item...)
	}
	return call{method: "POST", path: l.path, body: append(body, "]}"...), repeatable: l.repeatable}
}

func queuePath(queue, rest string) string { return "/v1/queues/" + url.PathEscape(queue) + rest }

// backoff doubles from 100 ms on up to 5 s, of which a random 50 to 100 % is waited.
type backoff struct{ last time.Duration }

func (b *backoff) next() time.Duration {
	b.last *= 2
	if b.last == 0 {
		b.last = 100 * time.Millisecond
	} else if b.last > 5*time.Second {
		b.last = 5 * time.Second
	}
	return b.last/2 + time.Duration(rand.Int63n(int64(b.last/2)))
}

// answer is what came back; after is Retry-After, or negative.
type answer struct {
	status int
	body   []byte
	after  time.Duration
}

// once sends a request once.
func (c *Client) once(ctx context.Context, one call) (answer, *Error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout+one.wait)
	defer cancel()
	var sent atomic.Bool // from the moment when it has a connection: it may reach the server
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(got httptrace.GotConnInfo) {
			if got.Reused && isStale(got.Conn) {
				got.Conn.Close() // nothing is written, and the transport takes another one
			} else {
				sent.Store(true)
			}
		}})
	failed := func(err error) *Error {
		code := "unavailable"
		if sent.Load() {
			code = "unknown_outcome"
		}
		if cause := ctx.Err(); cause != nil {
			err = fmt.Errorf("%w (%v)", cause, err)
		}
		return &Error{Code: code, Message: one.method + " " + one.path + ": " + err.Error(), cause: err}
	}
	var body io.Reader
	if one.body != nil {
		body = bytes.NewReader(one.body)
	}
	request, err := http.NewRequestWithContext(ctx, one.method, c.base+one.path, body)
	if err != nil {
		return answer{}, &Error{Code: "invalid_argument", Message: err.Error(), cause: err}
	}
	request.Header.Set("User-Agent", c.agent)
	if one.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	// Not http.Client: a redirect is an error here.
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return answer{}, failed(err)
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	if err != nil && response.StatusCode == http.StatusOK {
		return answer{}, failed(err)
	}
	after := time.Duration(-1)
	if seconds, err := strconv.ParseUint(response.Header.Get("Retry-After"), 10, 31); err == nil {
		after = time.Duration(seconds) * time.Second
	}
	return answer{response.StatusCode, read, after}, nil
}

// readAnswer reads an answer; some have a `read` of their own.
func readAnswer(data []byte, into any) error {
	if one, ok := into.(interface{ read([]byte) error }); ok {
		return one.read(data)
	}
	return json.Unmarshal(data, into)
}

// try sends a request once and reads its answer.
func (c *Client) try(ctx context.Context, one call, into any) (time.Duration, *Error) {
	got, failed := c.once(ctx, one)
	if failed != nil {
		return -1, failed
	}
	if got.status == http.StatusOK {
		if err := readAnswer(got.body, into); err != nil {
			return -1, &Error{Code: "unknown_outcome",
				Message: "the server's answer cannot be read: " + err.Error(), cause: err}
		}
		return -1, nil
	}
	var problem struct{ Code, Detail string }
	_ = json.Unmarshal(got.body, &problem) // a load balancer's answer is not JSON
	return got.after, problemOf(got.status, problem.Code, problem.Detail)
}

// run carries out a call; it is tried again where nothing was done, or where a repeat is safe.
func (c *Client) run(ctx context.Context, one call, into any) error {
	var waits backoff
	var end time.Duration
	for {
		after, failed := c.try(ctx, one, into)
		if failed == nil {
			return nil
		}
		if end == 0 {
			end = elapsed() + c.patience
		}
		pause := waits.next()
		if after >= 0 {
			pause = after + time.Duration(rand.Int63n(int64(50*time.Millisecond)))
		}
		passing := errors.Is(failed, ErrUnavailable) ||
			one.repeatable && errors.Is(failed, ErrUnknownOutcome)
		if !passing || ctx.Err() != nil || elapsed()+pause >= end {
			return failed
		}
		select {
		case <-ctx.Done():
			failed.cause = ctx.Err()
			return failed
		case <-c.closed:
			return failed
		case <-time.After(pause):
		}
	}
}

// itemResult is an item of an answer to a batch.
type itemResult struct {
	raw json.RawMessage
	err error
}

// runItems carries out a batch in one request.
func (c *Client) runItems(ctx context.Context, l lane, items []json.RawMessage) ([]itemResult, error) {
	read := answers{count: len(items)}
	if err := c.run(ctx, l.call(items), &read); err != nil {
		return nil, err
	}
	return read.results, nil
}

// answers reads the results of a batch; there must be one for each item.
type answers struct {
	count   int
	results []itemResult
}

func (a *answers) UnmarshalJSON(data []byte) error {
	var said struct{ Results []json.RawMessage }
	if err := json.Unmarshal(data, &said); err != nil {
		return err
	}
	results, err := readItems(said.Results, a.count)
	a.results = results
	return err
}

type itemError struct{ Code, Message string }

func (e *itemError) of() *Error {
	return &Error{Code: e.Code, Message: e.Message, Status: http.StatusOK}
}

func readItems(said []json.RawMessage, count int) ([]itemResult, error) {
	if len(said) != count {
		return nil, fmt.Errorf("%d results for %d items", len(said), count)
	}
	results := make([]itemResult, count)
	for index, raw := range said {
		var failed struct{ Error *itemError }
		if err := json.Unmarshal(raw, &failed); err != nil {
			return nil, err
		}
		results[index].raw = raw
		if failed.Error != nil {
			results[index].err = failed.Error.of()
		}
	}
	return results, nil
}

func readItem[T any](item itemResult) (value T, err error) {
	if item.err != nil {
		return value, item.err
	}
	if err := json.Unmarshal(item.raw, &value); err != nil {
		return value, &Error{Code: "unknown_outcome",
			Message: "the server's answer cannot be read: " + err.Error(), cause: err}
	}
	return value, nil
}
