package tarry

import (
	"context"
	"time"
)

// Bulk is a verb on all messages that meet everything given; zero values are not looked at.
type Bulk struct {
	Action  string // cancel, reschedule, revive or remove
	State   State
	Prefix  string
	DueFrom time.Time // then or later
	DueTo   time.Time // before then
	Headers map[string]string
	Reason  string        // of dead messages; * stands for any text, ? for one byte
	Due     time.Time     // of reschedule
	By      time.Duration // of reschedule: from its own due time
	DryRun  bool          // only counts
}

// Bulk carries a verb out page after page, and counts over all of them. After an error it has
// carried out the pages that it counted.
func (q *Queue) Bulk(ctx context.Context, bulk Bulk) (BulkResult, error) {
	body := fields{"action": bulk.Action, "dry_run": bulk.DryRun}
	if bulk.State != "" {
		body["state"] = bulk.State
	}
	if bulk.Prefix != "" {
		body.put("prefix", bulk.Prefix)
	}
	if bulk.Reason != "" {
		body.put("reason", bulk.Reason)
	}
	if len(bulk.Headers) > 0 {
		body["headers"] = bulk.Headers
	}
	body.putTime("due_from", bulk.DueFrom)
	body.putTime("due_to", bulk.DueTo)
	body.putTime("due", bulk.Due)
	if bulk.By != 0 {
		body.putDuration("by", &bulk.By)
	}
	all := BulkResult{Outcomes: map[string]int64{}}
	for {
		var page struct {
			BulkResult
			Next string `json:"next"`
		}
		if err := q.ask(ctx, "POST", "/bulk", body, false, &page); err != nil {
			return all, err
		}
		all.Matched += page.Matched
		all.Failed += page.Failed
		for outcome, number := range page.Outcomes {
			all.Outcomes[outcome] += number
		}
		if page.Next == "" {
			return all, nil
		}
		body["after"] = page.Next
	}
}
