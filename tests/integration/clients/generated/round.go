// The README's round, through the client that openapi-generator makes for Go.
package main

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"time"

	client "github.com/tarry/client"
)

func expect(wanted, got any) {
	if !reflect.DeepEqual(wanted, got) {
		fmt.Fprintf(os.Stderr, "wanted %v, got %v\n", wanted, got)
		os.Exit(1)
	}
}

func must[T any](value T, _ any, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func main() {
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: os.Args[1]}}
	api := client.NewAPIClient(configuration)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	lamp := client.NewPush()
	lamp.SetKey("order:42")
	lamp.SetPayload("a lamp")
	lamp.SetDelay("30m")
	lamp.SetHeaders(map[string]string{"shop": "e1"})
	push := func() (*client.Pushed, int, error) {
		pushed, response, err := api.MessagesAPI.PushMessage(ctx, "orders").Push(*lamp).Execute()
		return pushed, response.StatusCode, err
	}
	expect(client.PUSHED, must(push()).GetOutcome())
	_, status, err := push()
	expect(409, status)
	expect(true, err != nil)

	due := client.NewPush()
	due.SetKey("order:43")
	due.SetDueMs(1_700_000_000_000)
	later := client.NewPush()
	later.SetKey("order:44")
	later.SetDue(time.Now().Add(24 * time.Hour))
	bad := client.NewPush()
	bad.SetDelay("no duration")
	batch := client.NewPushBatch([]client.Push{*due, *later, *bad})
	pushed := must(api.MessagesAPI.PushMessages(ctx, "orders").PushBatch(*batch).Execute())
	expect(client.PUSHED, pushed.Results[0].GetOutcome())
	expect(client.INVALID_ARGUMENT, pushed.Results[2].Error.GetCode())

	message := must(api.MessagesAPI.GetMessage(ctx, "orders").Key("order:42").Execute())
	expect("a lamp", message.GetPayload())
	get := client.NewGet([]string{"order:42", "none"})
	got := must(api.MessagesAPI.GetMessages(ctx, "orders").Get(*get).Execute())
	expect(map[string]string{"shop": "e1"}, got.Results[0].GetHeaders())
	expect(client.NOT_FOUND, got.Results[1].Error.GetCode())

	item := client.NewRescheduleItem()
	item.SetKey("order:42")
	item.SetDelayMs(0)
	move := client.NewReschedule([]client.RescheduleItem{*item})
	moved := must(api.MessagesAPI.RescheduleMessages(ctx, "orders").Reschedule(*move).Execute())
	expect(client.RESCHEDULED, moved.Results[0].GetOutcome())

	claim := client.NewClaim([]string{"orders"})
	claim.SetMax(10)
	claim.SetWait("10s")
	claimed := must(api.ClaimsAPI.ClaimMessages(ctx).Claim(*claim).Execute())
	expect(2, len(claimed.Messages))
	more := client.NewExtendItem()
	more.SetReceipt(claimed.Messages[0].GetReceipt())
	more.SetLease("1m")
	extend := client.NewExtend([]client.ExtendItem{*more})
	extended := must(api.ClaimsAPI.ExtendLeases(ctx).Extend(*extend).Execute())
	expect(client.DONE, extended.Results[0].GetOutcome())

	ack := client.NewSettleItem(client.ACK)
	ack.SetReceipt(claimed.Messages[0].GetReceipt())
	bury := client.NewSettleItem(client.BURY)
	bury.SetReceipt(claimed.Messages[1].GetReceipt())
	late := client.NewSettleItem(client.ACK)
	late.SetReceipt(claimed.Messages[1].GetReceipt())
	settle := client.NewSettle([]client.SettleItem{*ack, *bury, *late})
	settled := must(api.ClaimsAPI.SettleClaims(ctx).Settle(*settle).Execute())
	expect(client.DONE, settled.Results[0].GetOutcome())
	expect(client.STALE, settled.Results[2].GetOutcome())

	all := client.NewRevive()
	all.SetAll(true)
	expect(int64(1), must(api.QueuesAPI.ReviveMessages(ctx, "orders").Revive(*all).Execute()).GetCount())
	keys := client.NewCancel([]string{"order:44"})
	cancelled := must(api.MessagesAPI.CancelMessages(ctx, "orders").Cancel(*keys).Execute())
	expect(client.CANCELLED, cancelled.Results[0].GetOutcome())

	page := must(api.MessagesAPI.ListMessages(ctx, "orders").State(client.READY).Limit(10).Execute())
	expect(1, len(page.Messages))
	queue := must(api.QueuesAPI.GetQueue(ctx, "orders").Execute())
	expect(int64(1), queue.Counters.GetAcked())
	expect(1, len(must(api.ServerAPI.GetStats(ctx).Execute()).Queues))
	fmt.Println("round done")
}
