package tarry

import (
	"encoding/json"
	"unicode/utf8"
)

// said holds the fields that are text, or Base64 if they are not UTF-8.
type said struct {
	Key       *string `json:"key,omitempty"`
	Key64     []byte  `json:"key_base64,omitempty"`
	Payload   *string `json:"payload,omitempty"`
	Payload64 []byte  `json:"payload_base64,omitempty"`
	Reason    *string `json:"reason,omitempty"`
	Reason64  []byte  `json:"reason_base64,omitempty"`
}

func textOf(plain *string, coded []byte) string {
	if plain != nil {
		return *plain
	}
	return string(coded)
}

func split(value string) (*string, []byte) {
	if utf8.ValidString(value) {
		return &value, nil
	}
	return nil, []byte(value)
}

func (s said) key() string    { return textOf(s.Key, s.Key64) }
func (s said) reason() string { return textOf(s.Reason, s.Reason64) }
func (s said) payload() []byte {
	return []byte(textOf(s.Payload, s.Payload64))
}

func saidOf(key string, payload []byte) said {
	var s said
	s.Key, s.Key64 = split(key)
	s.Payload, s.Payload64 = split(string(payload))
	return s
}

// UnmarshalJSON reads what the server answers.
func (p *PushResult) UnmarshalJSON(data []byte) error {
	type plain PushResult
	read := struct {
		*plain
		said
	}{plain: (*plain)(p)}
	err := json.Unmarshal(data, &read)
	p.Key = read.key()
	return err
}

// UnmarshalJSON reads what the server answers.
func (c *ChangeResult) UnmarshalJSON(data []byte) error {
	type plain ChangeResult
	read := struct {
		*plain
		said
	}{plain: (*plain)(c)}
	err := json.Unmarshal(data, &read)
	c.Key = read.key()
	return err
}

// UnmarshalJSON reads what the server answers.
func (c *Claimed) UnmarshalJSON(data []byte) error {
	type plain Claimed
	read := struct {
		*plain
		said
	}{plain: (*plain)(c)}
	err := json.Unmarshal(data, &read)
	c.Key, c.Payload = read.key(), read.payload()
	return err
}

// UnmarshalJSON reads what the server answers.
func (s *Stored) UnmarshalJSON(data []byte) error {
	type plain Stored
	read := struct {
		*plain
		said
	}{plain: (*plain)(s)}
	err := json.Unmarshal(data, &read)
	s.Key, s.Payload, s.Reason = read.key(), read.payload(), read.reason()
	return err
}

// MarshalJSON writes it as the HTTP interface does.
func (p PushResult) MarshalJSON() ([]byte, error) {
	type plain PushResult
	return json.Marshal(struct {
		plain
		said
	}{plain(p), keyOnly(p.Key)})
}

// MarshalJSON writes it as the HTTP interface does.
func (c ChangeResult) MarshalJSON() ([]byte, error) {
	type plain ChangeResult
	return json.Marshal(struct {
		plain
		said
	}{plain(c), keyOnly(c.Key)})
}

// MarshalJSON writes it as the HTTP interface does.
func (c Claimed) MarshalJSON() ([]byte, error) {
	type plain Claimed
	return json.Marshal(struct {
		plain
		said
	}{plain(c), saidOf(c.Key, c.Payload)})
}

// MarshalJSON writes it as the HTTP interface does.
func (s Stored) MarshalJSON() ([]byte, error) {
	type plain Stored
	all := saidOf(s.Key, s.Payload)
	if s.Reason != "" {
		all.Reason, all.Reason64 = split(s.Reason)
	}
	return json.Marshal(struct {
		plain
		said
	}{plain(s), all})
}

// MarshalJSON writes the value, or {"error": ...}.
func (r Result[T]) MarshalJSON() ([]byte, error) {
	if r.Err != nil {
		return json.Marshal(fields{"error": asError(r.Err)})
	}
	return json.Marshal(r.Value)
}

func keyOnly(key string) said {
	var s said
	s.Key, s.Key64 = split(key)
	return s
}
