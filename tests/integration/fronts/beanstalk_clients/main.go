// go-beanstalk, unchanged. The arguments are the server's address and port, and a tube.
package main

import (
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"time"

	"github.com/beanstalkd/go-beanstalk"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	conn, err := beanstalk.Dial("tcp", net.JoinHostPort(os.Args[1], os.Args[2]))
	must(err)
	tube := beanstalk.NewTube(conn, os.Args[3])
	tubes := beanstalk.NewTubeSet(conn, os.Args[3])
	reserve := func(wanted uint64) {
		id, _, err := tubes.Reserve(10 * time.Second)
		must(err)
		if id != wanted {
			log.Fatalf("reserved %d, not %d", id, wanted)
		}
	}

	first, err := tube.Put([]byte("first ☃"), 5, 0, 30*time.Second)
	must(err)
	later, err := tube.Put([]byte("later"), 6, time.Hour, 30*time.Second)
	must(err)
	reserve(first)
	must(conn.Touch(first))
	told, err := conn.StatsJob(first)
	must(err)
	fmt.Println(told["tube"] == os.Args[3], told["state"], told["pri"], told["ttr"], told["reserves"])
	must(conn.Release(first, 7, 0))
	reserve(first)
	must(conn.Bury(first, 8))
	buried, body, err := tube.PeekBuried()
	must(err)
	fmt.Println(buried == first, string(body))
	kicked, err := tube.Kick(10)
	must(err)
	fmt.Println("kicked", kicked)
	reserve(first)
	must(conn.Delete(first))
	_, _, err = tubes.Reserve(0)
	fmt.Println(errors.Is(err, beanstalk.ErrTimeout))
	must(conn.KickJob(later))
	reserve(later)
	must(conn.Delete(later))
	_, err = conn.StatsJob(later)
	fmt.Println(errors.Is(err, beanstalk.ErrNotFound))
	told, err = tube.Stats()
	must(err)
	for _, name := range []string{"current-jobs-ready", "current-jobs-delayed", "total-jobs", "cmd-delete"} {
		fmt.Println(name, told[name])
	}
	told, err = conn.Stats()
	must(err)
	fmt.Println(told["max-job-size"])
	must(conn.Close())
}
