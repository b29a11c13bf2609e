package tarry_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"tarry.io/go/tarry"
	"tarry.io/go/tarry/tarrytest"
)

func TestOrderTimesOut(t *testing.T) {
	server := tarrytest.Start(t) // in production: tarry.New("https://queue.example:7733")
	client, ctx := server.Client(), context.Background()
	orders := client.Queue("orders")
	for _, number := range []string{"42", "43", "44"} {
		_, err := orders.Push(ctx, []byte(number),
			tarry.Key("order:"+number), tarry.Delay(30*time.Minute))
		if err != nil {
			t.Fatal(err)
		}
	}
	orders.Cancel(ctx, "order:43")                             // it is paid
	orders.Reschedule(ctx, "order:44", tarry.Delay(time.Hour)) // more time

	closed := []int{}
	handle := tarry.JSON(func(_ context.Context, _ *tarry.Delivery, order int) error {
		closed = append(closed, order)
		return nil // an ack
	})
	for step, expected := range [][]int{{}, {42}, {42, 44}} {
		if _, err := orders.WorkOff(ctx, handle); err != nil || !reflect.DeepEqual(closed, expected) {
			t.Errorf("after %d half hours: closed %v instead of %v (%v)", step, closed, expected, err)
		}
		server.Advance(30 * time.Minute)
	}
}
