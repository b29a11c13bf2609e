package tarry

import (
	"context"
	"encoding/base64"
	"net/url"
	"strconv"
	"unicode/utf8"
)

// ListOptions choose messages of a list. Zero values choose all, 100 on a page.
type ListOptions struct {
	State  State
	Prefix string // of their keys
	Limit  int    // messages on a page, up to 10,000
	After  string // the Next of the page before
}

// ListPage is one page of a list.
func (q *Queue) ListPage(ctx context.Context, options ListOptions) (Page, error) {
	query := url.Values{}
	put := func(name, value string) {
		if value != "" {
			query.Set(name, value)
		}
	}
	put("state", string(options.State))
	put("after", options.After)
	put(inQuery("prefix", options.Prefix))
	if options.Limit != 0 {
		put("limit", strconv.Itoa(options.Limit))
	}
	var page Page
	err := q.client.run(ctx, call{method: "GET", repeatable: true,
		path: queuePath(q.name, "/messages?") + query.Encode()}, &page)
	return page, err
}

// inQuery are the name and the value of a parameter: in Base64 if the value is not UTF-8.
func inQuery(name, value string) (string, string) {
	if utf8.ValidString(value) {
		return name, value
	}
	return name + "_base64", base64.StdEncoding.EncodeToString([]byte(value))
}

// List goes through all pages of a list. Its order is not defined.
func (q *Queue) List(options ListOptions) *Iterator { return &Iterator{queue: q, options: options} }

// Iterator goes through messages: for it.Next(ctx) { it.Message() }; then look at it.Err(). For one
// goroutine.
type Iterator struct {
	queue   *Queue
	options ListOptions
	page    []Stored
	now     Stored
	over    bool
	err     error
}

// Next goes to the next message, and reports whether there is one.
func (i *Iterator) Next(ctx context.Context) bool {
	for len(i.page) == 0 {
		if i.over || i.err != nil {
			return false
		}
		var page Page
		page, i.err = i.queue.ListPage(ctx, i.options)
		i.page, i.options.After, i.over = page.Messages, page.Next, page.Next == ""
	}
	i.now, i.page = i.page[0], i.page[1:]
	return true
}

// All are the messages that Next has not gone to yet.
func (i *Iterator) All(ctx context.Context) (all []Stored, err error) {
	for i.Next(ctx) {
		all = append(all, i.now)
	}
	return all, i.err
}

// Message is the message that Next went to.
func (i *Iterator) Message() Stored { return i.now }

// Err is why Next stopped early; nil at the end of the list.
func (i *Iterator) Err() error { return i.err }
