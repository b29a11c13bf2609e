module tarry.io/bench/rivals

go 1.26.0

require (
	github.com/beanstalkd/go-beanstalk v0.2.0
	github.com/nats-io/nats.go v1.52.0
	github.com/nats-io/nuid v1.0.1
	tarry.io/go/tarry v0.0.0
)

require (
	github.com/klauspost/compress v1.18.5 // indirect
	github.com/nats-io/nkeys v0.4.15 // indirect
	golang.org/x/crypto v0.49.0 // indirect
	golang.org/x/sys v0.42.0 // indirect
)

replace tarry.io/go/tarry => ../../../../clients/go
