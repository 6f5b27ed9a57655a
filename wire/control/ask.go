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

// APIMost is how many salt-apis of one master have a place for their sockets.
const APIMost = 9

// APIFolder is where the socket of a salt-api lies in the sock_dir of its master, whose own is one above: the first,
// the second of those that run beside it, and so on.
func APIFolder(n int) string {
	if n < 2 {
		return "api"
	}
	return "api-" + strconv.Itoa(n)
}

// AskTimeout bounds a question to a daemon, JobPatience one about the job store.
const (
	AskTimeout  = 10 * time.Second
	JobPatience = 30 * time.Second
)

// Daemon is a daemon that can be asked. It connects for each question, and any number of goroutines may ask.
type Daemon struct{ path string }

// At is the daemon that has its sockets in sockDir, whether there is one or not.
func At(sockDir string) *Daemon { return &Daemon{filepath.Join(sockDir, Socket)} }

// Path is where its socket is.
func (d *Daemon) Path() string { return d.path }

// Here tells whether there is a socket: a daemon of Salt has none.
func (d *Daemon) Here() bool {
	info, err := os.Stat(d.path)
	return err == nil && info.Mode()&os.ModeSocket != 0
}

// Listens tells whether somebody accepts at the socket: one that was left behind has nobody.
func (d *Daemon) Listens() bool {
	conn, err := net.DialTimeout("unix", d.path, time.Second)
	if err != nil {
		return false
	}
	_ = conn.Close() // it was opened to see that it can be
	return true
}

// Ask asks a daemon and returns its answer. The daemon's own error is an *ipc.RemoteError, another version of the
// protocol a *VersionError, an answer of another shape ErrAnswer. When ctx has a deadline the daemon is told of it: one
// that is frozen meanwhile changes nothing any more.
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

// Pack is a question as it travels, without a deadline.
func Pack[A any](q Question[A]) *payload.Map {
	m := payload.M(keyCommand, q.Command(), keyVersion, int64(Version))
	for f, at := range fieldsOf(reflect.ValueOf(q)) {
		m.Set(f.name, encode(at))
	}
	return m
}
