package tarry

import "time"

// Outcome is what a verb did. docs/semantics.md has the table.
type Outcome string

// The outcomes.
const (
	Pushed      Outcome = "pushed"
	Exists      Outcome = "exists"
	Kept        Outcome = "kept"
	Replaced    Outcome = "replaced"
	Moved       Outcome = "moved"
	InFlight    Outcome = "in_flight"
	SettledThen Outcome = "settled"
	Revived     Outcome = "revived"
	Cancelled   Outcome = "cancelled"
	Stopping    Outcome = "stopping"
	Unknown     Outcome = "unknown"
	Rescheduled Outcome = "rescheduled"
	Done        Outcome = "done"
	Stale       Outcome = "stale"
	Added       Outcome = "added" // of PutSchedule
)

// State is where a message is in its life.
type State string

// The states.
const (
	Scheduled  State = "scheduled"
	Ready      State = "ready"
	Leased     State = "leased"
	Dead       State = "dead"
	Remembered State = "remembered"
)

// IfExists is what a push does if its key is taken.
type IfExists string

// The rules for keys that are taken.
const (
	Reject  IfExists = "reject"
	Keep    IfExists = "keep"
	Replace IfExists = "replace"
	Earlier IfExists = "earlier"
	Later   IfExists = "later"
)

// Result is an item of a batch: what happened, or the error of this item alone.
type Result[T any] struct {
	Value T
	Err   error
}

// PushResult is what a push did, and the message that is there now.
type PushResult struct {
	Outcome Outcome `json:"outcome"`
	ID      string  `json:"id"`
	Key     string  `json:"-"`
	DueMS   int64   `json:"due_ms"`
}

// IsNew reports whether this push is what will be delivered.
func (p PushResult) IsNew() bool {
	return p.Outcome == Pushed || p.Outcome == Replaced || p.Outcome == Revived
}

// Due is when the message is due.
func (p PushResult) Due() time.Time { return time.UnixMilli(p.DueMS) }

// Settlement is how and when a remembered message ended.
type Settlement struct {
	How    string `json:"how"` // acked, cancelled or expired
	WhenMS int64  `json:"when_ms"`
}

// ChangeResult is what a cancel or a reschedule did. Settlement is of the outcome SettledThen.
type ChangeResult struct {
	Outcome    Outcome     `json:"outcome"`
	Key        string      `json:"-"`
	DueMS      int64       `json:"due_ms,omitempty"`
	Settlement *Settlement `json:"settlement,omitempty"`
}

// SettleResult is Done, or Stale: the claim had ended. DueMS: when a retry is due again.
type SettleResult struct {
	Outcome Outcome `json:"outcome"`
	DueMS   int64   `json:"due_ms,omitempty"`
}

// Claimed is a claimed message. Receipt names this claim, for Settle and Extend.
type Claimed struct {
	Queue     string            `json:"queue"`
	ID        string            `json:"id"` // the same over all deliveries
	Key       string            `json:"-"`
	Payload   []byte            `json:"-"`
	Headers   map[string]string `json:"headers"`
	Receipt   string            `json:"receipt"`
	Attempt   int64             `json:"attempt"`
	LeaseMS   int64             `json:"lease_ms"`
	DueMS     int64             `json:"due_ms"`
	ClaimedMS int64             `json:"claimed_ms"`
	Priority  uint32            `json:"priority"`
}

// Due is when the message was due.
func (c Claimed) Due() time.Time { return time.UnixMilli(c.DueMS) }

// Lease is how long the claim holds from its beginning or from an extension.
func (c Claimed) Lease() time.Duration { return time.Duration(c.LeaseMS) * time.Millisecond }

// Stored is a message as Get and List show it.
type Stored struct {
	Queue      string            `json:"queue"`
	ID         string            `json:"id"`
	Key        string            `json:"-"`
	State      State             `json:"state"`
	DueMS      int64             `json:"due_ms"`
	PushedMS   int64             `json:"pushed_ms,omitempty"`
	ExpireAtMS int64             `json:"expire_at_ms,omitempty"` // 0: never
	Priority   uint32            `json:"priority"`
	Attempt    int64             `json:"attempt"`
	Headers    map[string]string `json:"headers"`
	Payload    []byte            `json:"-"` // of Get alone
	Reason     string            `json:"-"` // why it is dead
	IsStopping bool              `json:"stopping,omitempty"`
	Holder     string            `json:"holder,omitempty"` // who has claimed it
	Settlement *Settlement       `json:"settlement,omitempty"`
	Tallies    map[string]int64  `json:"tallies,omitempty"`
}

// Due is when the message is due.
func (s Stored) Due() time.Time { return time.UnixMilli(s.DueMS) }

// Page is a page of a list. An empty Next means the end.
type Page struct {
	Messages []Stored `json:"messages"`
	Next     string   `json:"next"`
}

// Settings are all settings of a queue.
type Settings struct {
	LeaseMS      int64    `json:"lease_ms"`
	MaxAttempts  int64    `json:"max_attempts"`
	BackoffMinMS int64    `json:"backoff_min_ms"`
	BackoffMaxMS int64    `json:"backoff_max_ms"`
	RememberMS   int64    `json:"remember_ms"`
	DeadKeepMS   int64    `json:"dead_keep_ms"`
	IfExists     IfExists `json:"if_exists"`
	Objective    string   `json:"objective,omitempty"`  // such as "99% within 1s"; empty: none
	ExpireMS     int64    `json:"expire_ms,omitempty"`  // 0: never
	OnExpiry     string   `json:"on_expiry,omitempty"`  // empty: end
	MaxLeased    int64    `json:"max_leased,omitempty"` // 0: no limit
	Rate         string   `json:"rate,omitempty"`       // such as "100/1s burst 20"; empty: none
	Group        string   `json:"group,omitempty"`      // key, or header:NAME; empty: none
	// GroupMaxLeased limits each group; 0: no limit.
	GroupMaxLeased int64 `json:"group_max_leased,omitempty"`
	// History is how many events of each message are kept; 0: none.
	History int64 `json:"history,omitempty"`
	// GroupOrder is push if the messages of a group come in the order of their pushes; empty: due.
	GroupOrder string `json:"group_order,omitempty"`
}

// SettingsPatch changes settings; nil leaves a setting as it is. Ptr makes the pointers.
type SettingsPatch struct {
	Lease       *time.Duration
	MaxAttempts *int
	BackoffMin  *time.Duration
	BackoffMax  *time.Duration
	Remember    *time.Duration // how long keys stay known after an ack or a cancel
	DeadKeep    *time.Duration
	IfExists    *IfExists
	Objective   *string // such as "99% within 1s"; "none" removes it
	Expire      *time.Duration
	OnExpiry    *string // end or dead
	MaxLeased   *int    // messages leased at once, over all consumers; 0 removes the limit
	Rate        *string // claims at most, such as "100/1s burst 20"; "none" removes it
	Group       *string // what names a message's group: key, header:NAME, or none
	// GroupMaxLeased is how many messages of a group are leased at once; 0 removes the limit.
	GroupMaxLeased *int
	History        *int // events of each message that are kept; 0 drops them
	// GroupOrder is due, or push: the order of the pushes, one message of a group at a time.
	GroupOrder *string
}

// Ptr is a pointer to a value, for SettingsPatch.
func Ptr[T any](value T) *T { return &value }

// QueueInfo is a queue's figures.
type QueueInfo struct {
	Queue         string           `json:"queue"`
	Scheduled     int64            `json:"scheduled"`
	Ready         int64            `json:"ready"`
	Leased        int64            `json:"leased"`
	Dead          int64            `json:"dead"`
	Remembered    int64            `json:"remembered"`
	WaitingClaims int64            `json:"waiting_claims"`
	Paused        bool             `json:"paused"`
	PausedUntilMS int64            `json:"paused_until_ms,omitempty"`
	OldestReadyMS int64            `json:"oldest_ready_ms,omitempty"`
	RateNextMS    int64            `json:"rate_next_ms,omitempty"` // the rate permits no claim before
	Settings      Settings         `json:"settings"`
	Counters      map[string]int64 `json:"counters"`
	Objective     *ObjectiveInfo   `json:"objective,omitempty"` // nil: none, or not measured
}

// ObjectiveInfo is how a queue keeps its objective, as its server measured it in the last hour.
type ObjectiveInfo struct {
	IsBurning     bool  `json:"burning"`
	IsOverdue     bool  `json:"overdue"` // a message waits for too long now
	Claims        int64 `json:"claims"`
	Late          int64 `json:"late"`
	LateEngine    int64 `json:"late_engine"`
	LateUnclaimed int64 `json:"late_unclaimed"`
	LatePaused    int64 `json:"late_paused"`
	LateLimited   int64 `json:"late_limited"` // held by MaxLeased or Rate
}

// History is what has happened to a message: its last events, oldest first.
type History struct {
	Limit  int64          `json:"limit"` // the queue's History; 0: it keeps none
	Events []HistoryEvent `json:"events"`
}

// HistoryEvent is one of them: claimed for instance. DueMS, Reason and By are empty if it has none.
type HistoryEvent struct {
	Event   string `json:"event"`
	AtMS    int64  `json:"at_ms"`
	Attempt int64  `json:"attempt,omitempty"`
	DueMS   int64  `json:"due_ms,omitempty"`
	Reason  string `json:"reason,omitempty"`
	By      string `json:"by,omitempty"` // the client that claimed it
}

// At is the event's time.
func (e HistoryEvent) At() time.Time { return time.UnixMilli(e.AtMS) }

// Why says why a message has not been delivered, or what has become of it. Cause is one of those in
// docs/reference/command-line.md, not_due for instance; Text says it in a sentence.
type Why struct {
	Cause   string    `json:"cause"`
	Text    string    `json:"text"`
	Message Stored    `json:"message"`
	Queue   QueueInfo `json:"queue"`
}

// Stats are the store's figures.
type Stats struct {
	Engine   string             `json:"engine"`
	Durable  bool               `json:"durable"`
	Queues   []QueueInfo        `json:"queues"`
	Lateness map[string]float64 `json:"lateness"`
}

// Forecast says how many messages fall due when.
type Forecast struct {
	WidthMS int64   `json:"width_ms"`
	DueNow  int64   `json:"due_now"`
	Buckets []int64 `json:"buckets"`
	Later   int64   `json:"later"`
	// Projection is there if the forecast was asked with Rates.
	Projection *Projection `json:"projection"`
}

// Rates are messages a second.
type Rates struct {
	Claims   float64 // of all consumers together, from 0.001
	Arrivals float64 // new messages that are due at once
}

// Projection is what becomes of a forecast at given rates. Times are from now.
type Projection struct {
	Rate     float64 `json:"rate"`
	Arrivals float64 `json:"arrivals"`
	// DrainedInMS is until no message is ready for the first time; nil: never at this rate.
	DrainedInMS *int64 `json:"drained_in_ms"`
	// ClearInMS is until the last backlog ends; nil: never at this rate.
	ClearInMS  *int64          `json:"clear_in_ms"`
	Backlog    int64           `json:"backlog"`   // at the end of the last span
	LatestMS   int64           `json:"latest_ms"` // the greatest lateness
	LatestInMS int64           `json:"latest_in_ms"`
	SpanMS     int64           `json:"span_ms"`
	Spans      []ProjectedSpan `json:"spans"`
}

// ProjectedSpan is a span of a Projection.
type ProjectedSpan struct {
	Due        int64 `json:"due"`
	Claimed    int64 `json:"claimed"`
	Backlog    int64 `json:"backlog"` // at its end
	LateP50MS  int64 `json:"late_p50_ms"`
	LateLastMS int64 `json:"late_last_ms"`
}

// Health is what the server and its engine can do.
type Health struct {
	Status      string `json:"status"`
	Version     string `json:"version"`
	Engine      string `json:"engine"`
	ByKey       bool   `json:"by_key"`
	Leases      bool   `json:"leases"`
	Durable     bool   `json:"durable"`
	ManualClock bool   `json:"manual_clock"`
}

// BulkResult is what a bulk verb did, over all pages.
type BulkResult struct {
	Matched  int64            `json:"matched"`
	Outcomes map[string]int64 `json:"outcomes"`
	Failed   int64            `json:"failed"`
}
