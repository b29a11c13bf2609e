package tarry

import (
	"context"
	"net/url"
	"strconv"
	"time"
)

// Missed is what becomes of occurrences that no server could push for a minute.
type Missed string

// The policies for missed occurrences.
const (
	MissedSkip Missed = "skip"
	MissedOne  Missed = "one" // the latest of them; the default
	MissedAll  Missed = "all"
)

// Schedule pushes a message again and again. PutSchedule needs When and Queue.
type Schedule struct {
	When     string        // "0 9 * * MON-FRI", "@daily" or "every 15m"
	Zone     string        // "Europe/Berlin"; the default is UTC
	Start    time.Time     // no occurrence before it, if it is not zero
	End      time.Time     // no occurrence after it, if it is not zero
	Jitter   time.Duration // each occurrence is due up to this much later
	Queue    string        // it gets the messages
	Payload  []byte
	Headers  map[string]string
	Priority *uint32 // Ptr makes it; the default is 1024
	Missed   Missed
	Paused   bool

	Name string    // set in answers; PutSchedule takes it as an argument
	Next time.Time // set in answers: the next occurrence; zero if there is none, or while it is paused
	Due  time.Time // set in answers: when that one is due, with the jitter
}

// Occurrence is one of a schedule's times.
type Occurrence struct {
	Time  time.Time
	Due   time.Time // with the jitter
	Local string    // the time on the local clock of the zone, RFC 3339
}

// OccurrencesQuery asks for the times of a schedule that need not be saved.
type OccurrencesQuery struct {
	When       string
	Zone       string
	Start, End time.Time
	Jitter     time.Duration
	Name       string    // of the schedule: the jitter follows from it
	From       time.Time // occurrences after this time; zero is now
	Count      int       // up to 1000; the default is 5
}

func (c *Client) askSchedule(ctx context.Context, method, name, verb string, body any,
	repeatable bool, into any) error {
	one := call{method: method, path: "/v1/schedules/" + url.PathEscape(name) + verb,
		repeatable: repeatable}
	if body != nil {
		one.body = encode(body)
	}
	return c.run(ctx, one, into)
}

// PutSchedule adds a schedule, or replaces the one of that name: Added or Replaced. Name, Next and
// Due of the schedule are not looked at.
func (c *Client) PutSchedule(ctx context.Context, name string, schedule Schedule) (Outcome, error) {
	schedule.Name, schedule.Next, schedule.Due = "", time.Time{}, time.Time{}
	var answer struct{ Outcome Outcome }
	err := c.askSchedule(ctx, "PUT", name, "", schedule, false, &answer)
	return answer.Outcome, err
}

// Schedule is one schedule, and its next occurrence.
func (c *Client) Schedule(ctx context.Context, name string) (Schedule, error) {
	var answer Schedule
	err := c.askSchedule(ctx, "GET", name, "", nil, true, &answer)
	return answer, err
}

// Schedules are all schedules whose names begin with the prefix, in no particular order.
func (c *Client) Schedules(ctx context.Context, prefix string) ([]Schedule, error) {
	all := []Schedule{}
	query := url.Values{"limit": {strconv.Itoa(1000)}}
	if prefix != "" {
		query.Set("prefix", prefix)
	}
	for {
		var page struct {
			Schedules []Schedule
			Next      string
		}
		err := c.run(ctx, call{method: "GET", path: "/v1/schedules?" + query.Encode(),
			repeatable: true}, &page)
		if err != nil {
			return all, err
		}
		all = append(all, page.Schedules...)
		if page.Next == "" {
			return all, nil
		}
		query.Set("after", page.Next)
	}
}

// PauseSchedule pauses a schedule. Until it is resumed, its occurrences do not happen.
func (c *Client) PauseSchedule(ctx context.Context, name string) error {
	var answer struct{}
	return c.askSchedule(ctx, "POST", name, "/pause", nil, true, &answer)
}

// ResumeSchedule resumes a schedule. Nothing makes up for occurrences in the pause.
func (c *Client) ResumeSchedule(ctx context.Context, name string) error {
	var answer struct{}
	return c.askSchedule(ctx, "POST", name, "/resume", nil, true, &answer)
}

// RunSchedule pushes a message of the schedule now, besides its occurrences. It answers the key of
// the message.
func (c *Client) RunSchedule(ctx context.Context, name string) (string, error) {
	var answer struct{ Key string }
	err := c.askSchedule(ctx, "POST", name, "/run", nil, false, &answer)
	return answer.Key, err
}

// RemoveSchedule removes a schedule. Messages that it has pushed stay.
func (c *Client) RemoveSchedule(ctx context.Context, name string) error {
	var answer struct{}
	return c.askSchedule(ctx, "DELETE", name, "", nil, false, &answer)
}

// Occurrences are the next times of a schedule, in order; fewer than asked for if there are no more.
func (c *Client) Occurrences(ctx context.Context, query OccurrencesQuery) ([]Occurrence, error) {
	var answer struct{ Occurrences []Occurrence }
	err := c.run(ctx, call{method: "POST", path: "/v1/occurrences", body: encode(query),
		repeatable: true}, &answer)
	return answer.Occurrences, err
}
