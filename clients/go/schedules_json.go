package tarry

import (
	"encoding/json"
	"time"
)

// saidTimes are the fields that say when a schedule's occurrences happen.
type saidTimes struct {
	When     string `json:"when"`
	Zone     string `json:"zone,omitempty"`
	StartMS  *int64 `json:"start_ms,omitempty"`
	EndMS    *int64 `json:"end_ms,omitempty"`
	JitterMS int64  `json:"jitter_ms,omitempty"`
}

type saidSchedule struct {
	saidTimes
	said
	Queue    string            `json:"queue"`
	Headers  map[string]string `json:"headers,omitempty"`
	Priority *uint32           `json:"priority,omitempty"`
	Missed   Missed            `json:"missed,omitempty"`
	Paused   bool              `json:"paused,omitempty"`
	Name     string            `json:"name,omitempty"`
	NextMS   *int64            `json:"next_ms,omitempty"`
	DueMS    *int64            `json:"due_ms,omitempty"`
}

type saidOccurrence struct {
	TimeMS int64  `json:"time_ms"`
	DueMS  int64  `json:"due_ms"`
	Local  string `json:"local"`
}

func msOf(moment time.Time) *int64 {
	if moment.IsZero() {
		return nil
	}
	return Ptr(moment.UnixMilli())
}

func timeOf(ms *int64) time.Time {
	if ms == nil {
		return time.Time{}
	}
	return time.UnixMilli(*ms)
}

// MarshalJSON writes it as the HTTP interface does.
func (s Schedule) MarshalJSON() ([]byte, error) {
	all := saidSchedule{
		saidTimes: saidTimes{s.When, s.Zone, msOf(s.Start), msOf(s.End), s.Jitter.Milliseconds()},
		Queue:     s.Queue, Headers: s.Headers, Priority: s.Priority, Missed: s.Missed,
		Paused: s.Paused, Name: s.Name, NextMS: msOf(s.Next), DueMS: msOf(s.Due),
	}
	all.Payload, all.Payload64 = split(string(s.Payload))
	return json.Marshal(all)
}

// UnmarshalJSON reads what the server answers.
func (s *Schedule) UnmarshalJSON(data []byte) error {
	var all saidSchedule
	err := json.Unmarshal(data, &all)
	*s = Schedule{When: all.When, Zone: all.Zone, Start: timeOf(all.StartMS), End: timeOf(all.EndMS),
		Jitter: time.Duration(all.JitterMS) * time.Millisecond, Queue: all.Queue,
		Payload: all.payload(), Headers: all.Headers, Priority: all.Priority, Missed: all.Missed,
		Paused: all.Paused, Name: all.Name, Next: timeOf(all.NextMS), Due: timeOf(all.DueMS)}
	return err
}

// MarshalJSON writes it as the HTTP interface does.
func (o Occurrence) MarshalJSON() ([]byte, error) {
	return json.Marshal(saidOccurrence{o.Time.UnixMilli(), o.Due.UnixMilli(), o.Local})
}

// UnmarshalJSON reads what the server answers.
func (o *Occurrence) UnmarshalJSON(data []byte) error {
	var all saidOccurrence
	err := json.Unmarshal(data, &all)
	*o = Occurrence{time.UnixMilli(all.TimeMS), time.UnixMilli(all.DueMS), all.Local}
	return err
}

// MarshalJSON writes it as the HTTP interface does.
func (q OccurrencesQuery) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		saidTimes
		Name   string `json:"name,omitempty"`
		FromMS *int64 `json:"from_ms,omitempty"`
		Count  int    `json:"count,omitempty"`
	}{saidTimes{q.When, q.Zone, msOf(q.Start), msOf(q.End), q.Jitter.Milliseconds()}, q.Name,
		msOf(q.From), q.Count})
}
