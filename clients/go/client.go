package tarry

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"
)

// Version of this library.
const Version = "0.2.0"

// Client is a server's client: kept connections, and calls that are tried again where that is safe.
type Client struct {
	base      string
	token     string
	agent     string
	timeout   time.Duration
	patience  time.Duration
	log       func(string, error)
	tracer    Tracer
	transport *http.Transport
	joiner    joiner
	closed    chan struct{}
	closing   sync.Once
}

type options struct {
	client *Client
	tls    *tls.Config
	ca     string
	cert   string
	key    string
}

// Option is a property of a client.
type Option func(*options)

// WithToken is the server's token; else the environment's TARRY_TOKEN.
func WithToken(token string) Option { return func(o *options) { o.client.token = token } }

// WithTimeout is how long one answer may take, besides the wait of a claim. The default is 30 s.
func WithTimeout(timeout time.Duration) Option {
	return func(o *options) { o.client.timeout = timeout }
}

// WithPatience is for how long a call goes on while nothing was done, because the server is away or
// refuses for the moment. The default is 10 s; with 0 there is one try.
func WithPatience(patience time.Duration) Option {
	return func(o *options) { o.client.patience = patience }
}

// WithCA is a PEM file of authorities for https; else the system's.
func WithCA(file string) Option { return func(o *options) { o.ca = file } }

// WithCertificate is the client's own certificate and key, as PEM files.
func WithCertificate(cert, key string) Option {
	return func(o *options) { o.cert, o.key = cert, key }
}

// WithTLS replaces the TLS configuration; WithCA and WithCertificate add to it.
func WithTLS(config *tls.Config) Option { return func(o *options) { o.tls = config.Clone() } }

// WithAgent names this process to operators: tarry shows it as a message's holder.
func WithAgent(agent string) Option { return func(o *options) { o.client.agent = agent } }

// WithLog is told what a worker has to say: that the server is away, that a handler panicked.
// WithSlog takes a slog.Logger.
func WithLog(log func(what string, err error)) Option {
	return func(o *options) { o.client.log = log }
}

// WithTracer makes spans of pushes and deliveries.
func WithTracer(tracer Tracer) Option { return func(o *options) { o.client.tracer = tracer } }

// New makes a client. It asks the server nothing. The address is http://HOST:PORT,
// https://HOST:PORT or http+unix:///PATH; if empty, the environment's TARRY_URL, else
// http://127.0.0.1:7733.
func New(address string, given ...Option) (*Client, error) {
	if address == "" {
		address = os.Getenv("TARRY_URL")
	}
	if address == "" {
		address = "http://127.0.0.1:7733"
	}
	client := &Client{token: os.Getenv("TARRY_TOKEN"), timeout: 30 * time.Second,
		agent:    fmt.Sprintf("tarry-go/%s pid %d", Version, os.Getpid()),
		patience: 10 * time.Second, log: func(string, error) {}, closed: make(chan struct{})}
	client.joiner = joiner{send: client.runItems, lanes: map[lane][]*joined{}}
	all := options{client: client, tls: &tls.Config{MinVersion: tls.VersionTLS12}}
	for _, option := range given {
		option(&all)
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	client.transport = &http.Transport{
		DialContext: dialer.DialContext, MaxIdleConnsPerHost: 64, IdleConnTimeout: 30 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second, DisableCompression: true,
	}
	if err := client.aim(address, dialer); err != nil {
		return nil, err
	}
	if err := all.loadCertificates(); err != nil {
		return nil, err
	}
	client.transport.TLSClientConfig = all.tls
	return client, nil
}

func (c *Client) aim(address string, dialer *net.Dialer) error {
	where, err := url.Parse(address)
	if err != nil {
		return &Error{Code: "invalid_argument", Message: err.Error(), cause: err}
	}
	switch {
	case where.Scheme == "http+unix" && where.Host == "" && where.Path != "":
		c.base = "http://localhost"
		c.transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", where.Path)
		}
	case (where.Scheme == "http" || where.Scheme == "https") && where.Host != "" &&
		(where.Path == "" || where.Path == "/") && where.RawQuery == "" && where.User == nil:
		c.base = where.Scheme + "://" + where.Host
	default:
		return &Error{Code: "invalid_argument", Message: fmt.Sprintf(
			"address %q must be http://HOST:PORT, https://HOST:PORT or http+unix:///PATH",
			where.Redacted())}
	}
	return nil
}

func (o *options) loadCertificates() error {
	bad := func(err error) error {
		return &Error{Code: "invalid_argument", Message: err.Error(), cause: err}
	}
	if o.ca != "" {
		pem, err := os.ReadFile(o.ca)
		if err != nil {
			return bad(err)
		}
		o.tls.RootCAs = x509.NewCertPool()
		if !o.tls.RootCAs.AppendCertsFromPEM(pem) {
			return bad(fmt.Errorf("%s has no certificate in PEM", o.ca))
		}
	}
	if o.cert != "" || o.key != "" {
		pair, err := tls.LoadX509KeyPair(o.cert, o.key)
		if err != nil {
			return bad(err)
		}
		o.tls.Certificates = []tls.Certificate{pair}
	}
	return nil
}

// Close ends the waits of calls that try again, and closes the connections that nobody uses. Calls
// under way still end.
func (c *Client) Close() {
	c.closing.Do(func() { close(c.closed) })
	c.transport.CloseIdleConnections()
}

// Queue is a handle. It asks the server nothing.
func (c *Client) Queue(name string) *Queue { return &Queue{client: c, name: name} }

var (
	settleLane = lane{"/v1/settle", "items", false}
	extendLane = lane{"/v1/extend", "items", true}
)

// Settle ends a claim. Stale: it had ended before.
func (c *Client) Settle(ctx context.Context, receipt string, verdict Verdict) (SettleResult, error) {
	return single[SettleResult](ctx, c, settleLane, verdict.item(receipt))
}

// SettleMany ends claims in one request.
func (c *Client) SettleMany(ctx context.Context, items []SettleItem) ([]Result[SettleResult], error) {
	batch := make([]laneItem, len(items))
	for index, one := range items {
		batch[index] = laneItem{settleLane, one.Verdict.item(one.Receipt), nil}
	}
	return many[SettleResult](ctx, c, batch)
}

// Extend begins the lease anew now; 0 is the queue's lease. Stale: it has ended.
func (c *Client) Extend(ctx context.Context, receipt string, lease time.Duration) (SettleResult, error) {
	return single[SettleResult](ctx, c, extendLane, ExtendItem{receipt, lease}.item())
}

// ExtendMany extends leases in one request.
func (c *Client) ExtendMany(ctx context.Context, items []ExtendItem) ([]Result[SettleResult], error) {
	batch := make([]laneItem, len(items))
	for index, one := range items {
		batch[index] = laneItem{extendLane, one.item(), nil}
	}
	return many[SettleResult](ctx, c, batch)
}

// Queues are all queues.
func (c *Client) Queues(ctx context.Context) ([]QueueInfo, error) {
	var answer struct{ Queues []QueueInfo }
	err := c.run(ctx, call{method: "GET", path: "/v1/queues", repeatable: true}, &answer)
	return answer.Queues, err
}

// Stats are the store's figures; of one queue, if it is not empty.
func (c *Client) Stats(ctx context.Context, queue string) (Stats, error) {
	var answer Stats
	path := "/v1/stats"
	if queue != "" {
		path += "?queue=" + url.QueryEscape(queue)
	}
	err := c.run(ctx, call{method: "GET", path: path, repeatable: true}, &answer)
	return answer, err
}

// Health is what the server can do; an error if its store is broken.
func (c *Client) Health(ctx context.Context) (Health, error) {
	var answer Health
	err := c.run(ctx, call{method: "GET", path: "/healthz", repeatable: true}, &answer)
	return answer, err
}

// Ready is an error while the server cannot serve.
func (c *Client) Ready(ctx context.Context) error {
	var answer struct{}
	return c.run(ctx, call{method: "GET", path: "/readyz", repeatable: true}, &answer)
}

// Advance moves the clock of a server with --test-clock.
func (c *Client) Advance(ctx context.Context, by time.Duration) error {
	var answer struct{}
	body := fields{}
	body.putDuration("by", &by)
	return c.run(ctx, call{method: "POST", path: "/v1/clock/advance", body: body.encode()}, &answer)
}

// laneItem is an item of a batch, or why it cannot be sent.
type laneItem struct {
	lane lane
	item json.RawMessage
	err  error
}

func single[T any](ctx context.Context, c *Client, l lane, item json.RawMessage) (T, error) {
	got, err := c.joiner.ask(ctx, l, item)
	if err != nil {
		var none T
		return none, err
	}
	return readItem[T](got)
}

// many carries out a batch: one request for each lane in it. An error of a whole request that may
// have been carried out is the error of each of its items.
func many[T any](ctx context.Context, c *Client, batch []laneItem) ([]Result[T], error) {
	results := make([]Result[T], len(batch))
	members := map[lane][]int{}
	var order []lane
	for index, one := range batch {
		if one.err != nil {
			results[index].Err = one.err
			continue
		}
		if members[one.lane] == nil {
			order = append(order, one.lane)
		}
		members[one.lane] = append(members[one.lane], index)
	}
	for _, l := range order {
		items := make([]json.RawMessage, len(members[l]))
		for index, member := range members[l] {
			items[index] = batch[member].item
		}
		read, err := c.runItems(ctx, l, items)
		if err != nil && len(order) == 1 && asError(err).Code != "unknown_outcome" {
			return nil, err
		}
		for index, member := range members[l] {
			if err != nil {
				results[member].Err = err
			} else {
				results[member].Value, results[member].Err = readItem[T](read[index])
			}
		}
	}
	return results, nil
}
