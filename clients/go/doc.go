// Package tarry is the client of tarry, a delay queue: it delivers messages when their time has
// come, never early.
//
//	client, err := tarry.New("http://127.0.0.1:7733")
//	orders := client.Queue("orders")
//	_, err = orders.Push(ctx, []byte("close it"), tarry.Key("order:42"), tarry.Delay(30*time.Minute))
//
// A Worker claims due messages and runs a handler for each. Errors are *Error; errors.Is with
// ErrUnknownOutcome, ErrUnavailable and so on says what to do next. Everything here may be used from
// any goroutine, unless it says otherwise.
package tarry
