package control

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"time"

	"brine/wire/ipc"
	"brine/wire/payload"
)

// Socket is the name of a daemon's control socket in its sock_dir.
const Socket = "brine.ipc"

// APIMost is how many salt-apis of one master can have sockets.
const APIMost = 9

// APIFolder is the folder for the socket of a salt-api, below the sock_dir of its master: n is 1 for the first salt-api
// of the master, 2 for the second one, and so on.
func APIFolder(n int) string {
	if n < 2 {
		return "api"
	}
	return "api-" + strconv.Itoa(n)
}

// AskTimeout limits a request to a daemon, JobPatience one about the job store.
const (
	AskTimeout  = 10 * time.Second
	JobPatience = 30 * time.Second
)

// Daemon is a daemon that accepts requests. It connects for each request. Any number of goroutines may use it.
type Daemon struct{ path string }

// At is the daemon with its sockets in sockDir. The daemon need not exist.
func At(sockDir string) *Daemon { return &Daemon{filepath.Join(sockDir, Socket)} }

// Path is the path of the control socket.
func (d *Daemon) Path() string { return d.path }

// Here tells whether the socket exists: a daemon of Salt has none.
func (d *Daemon) Here() bool {
	info, err := os.Stat(d.path)
	return err == nil && info.Mode()&os.ModeSocket != 0
}

// Listens tells whether a process accepts connections on the socket. Nobody does on a socket that was left behind.
func (d *Daemon) Listens() bool {
	conn, err := net.DialTimeout("unix", d.path, time.Second)
	if err != nil {
		return false
	}
	_ = conn.Close() // the connection was only a test
	return true
}

// Ask sends a request to a daemon and returns its answer. The daemon's own error is an *ipc.RemoteError, another
// version of the protocol is a *VersionError, and an answer of another shape is ErrAnswer. If ctx has a deadline, the
// request contains it, so that a daemon that was frozen until then changes nothing.
func Ask[A any, Q Question[A]](ctx context.Context, d *Daemon, q Q) (answer A, err error) {
	request := Pack(q)
	if until, ok := ctx.Deadline(); ok {
		request.Set(keyUntil, until.UnixMicro())
	}
	reply, err := ipc.NewControlClient(d.path).Do(ctx, request)
	if err != nil {
		return answer, err
	}
	if v, _ := reply.Int(keyVersion); v != Version {
		return answer, &VersionError{Tool: Version, Daemon: v}
	}
	return answer, decode(reply.Value(keyResult), reflect.ValueOf(&answer).Elem())
}

// Pack is a question as it is sent, without a deadline.
func Pack[A any](q Question[A]) *payload.Map {
	m := payload.M(keyCommand, q.Command(), keyVersion, int64(Version))
	for f, at := range fieldsOf(reflect.ValueOf(q)) {
		m.Set(f.name, encode(at))
	}
	return m
}
