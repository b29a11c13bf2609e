// Package tarrytest starts a tarry whose time stands still until the test moves it.
package tarrytest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tarry.io/go/tarry"
)

// Server is `tarry serve --test-clock` on a store in memory.
type Server struct {
	URL     string
	tb      testing.TB
	process *exec.Cmd
}

// Program is the program tarry: the environment's TARRY_PROGRAM, else the one on the PATH. Empty if
// there is none.
func Program() string {
	if program := os.Getenv("TARRY_PROGRAM"); program != "" {
		return program
	}
	program, _ := exec.LookPath("tarry")
	return program
}

// Start starts a server, which ends with the test. Without the program the test is skipped. Flags
// are added to the server's; with --store the store is another one.
func Start(tb testing.TB, flags ...string) *Server {
	tb.Helper()
	program := Program()
	if program == "" {
		tb.Skip("there is no program tarry on the PATH; set TARRY_PROGRAM to it")
	}
	server := &Server{tb: tb}
	if err := server.start(program, flags); err != nil {
		tb.Fatalf("tarry did not start: %v", err)
	}
	tb.Cleanup(server.stop)
	return server
}

func (s *Server) start(program string, flags []string) error {
	portFile := filepath.Join(s.tb.TempDir(), "port")
	given := []string{"serve", "--store", "memory:", "--test-clock", "--listen", "127.0.0.1:0",
		"--port-file", portFile}
	if strings.Contains(strings.Join(flags, " "), "--store") {
		given = append([]string{"serve"}, given[3:]...)
	}
	s.process = exec.Command(program, append(given, flags...)...)
	for _, one := range os.Environ() {
		if !strings.HasPrefix(one, "TARRY_") {
			s.process.Env = append(s.process.Env, one)
		}
	}
	var log bytes.Buffer
	s.process.Stderr = &log
	output, err := s.process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.process.Start(); err != nil {
		return err
	}
	if _, err := bufio.NewReader(output).ReadString('\n'); err != nil {
		return fmt.Errorf("%s (%v)", log.String(), s.process.Wait())
	}
	port, err := os.ReadFile(portFile)
	if err != nil {
		return err
	}
	s.URL = "http://127.0.0.1:" + strings.Fields(string(port))[0]
	return nil
}

func (s *Server) stop() {
	_ = s.process.Process.Signal(os.Interrupt)
	_ = s.process.Wait() // it was interrupted
}

// Client is a new client of the server, closed with the test.
func (s *Server) Client(options ...tarry.Option) *tarry.Client {
	s.tb.Helper()
	client, err := tarry.New(s.URL, options...)
	if err != nil {
		s.tb.Fatal(err)
	}
	s.tb.Cleanup(client.Close)
	return client
}

// Advance lets time pass. When it returns, what is due can be claimed.
func (s *Server) Advance(by time.Duration) {
	s.tb.Helper()
	client, err := tarry.New(s.URL)
	if err != nil {
		s.tb.Fatal(err)
	}
	defer client.Close()
	if err := client.Advance(context.Background(), by); err != nil {
		s.tb.Fatal(err)
	}
}
