package attack

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// database implements as much of Redis as a master needs to write jobs. It stores the commands that it gets.
type database struct {
	port string
	mu   sync.Mutex
	all  []string // commands, words separated by blanks
}

func newDatabase(t *testing.T) *database {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &database{}
	_, d.port, _ = net.SplitHostPort(listener.Addr().String())
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go d.serve(c)
		}
	}()
	return d
}

func (d *database) serve(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	number := func(sign byte) (int, error) {
		line, err := r.ReadString('\n')
		if err == nil && line[0] != sign {
			err = fmt.Errorf("%q is no %c", line, sign)
		}
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(strings.TrimSpace(line[1:]))
	}
	for {
		count, err := number('*')
		words := make([]string, max(count, 0))
		for i := range words {
			n, bad := number('$')
			text := make([]byte, max(n, 0)+2)
			if _, short := io.ReadFull(r, text); bad != nil || short != nil {
				return
			}
			words[i] = string(text[:n])
		}
		if err != nil || len(words) == 0 {
			return
		}
		d.mu.Lock()
		d.all = append(d.all, strings.Join(words, " "))
		d.mu.Unlock()
		answer := "+OK\r\n"
		switch strings.ToLower(words[0]) {
		case "hello", "client":
			answer = "-ERR unknown command\r\n"
		case "hset", "sadd", "expire", "del":
			answer = ":1\r\n"
		case "get":
			answer = "$-1\r\n"
		}
		if _, err := c.Write([]byte(answer)); err != nil {
			return
		}
	}
}

// has tells whether it got a command with the given beginning.
func (d *database) has(begin string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, one := range d.all {
		if strings.HasPrefix(strings.ToLower(one), strings.ToLower(begin)) {
			return true
		}
	}
	return false
}

// count is the number of commands that it got.
func (d *database) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.all)
}
