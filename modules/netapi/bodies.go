package netapi

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"brine/modules/fleet/door"
)

// Bounds of bodies. What a body comes to is counted in bytes of memory, text and values together.
const (
	largeBody  = 1 << 20
	atOnce     = 8        // large bodies that are on their way, of an address half
	timesOne   = 5        // times the longest body are what one may come to,
	timesAll   = 12       // and all that somebody waits for;
	leastOne   = 24 << 20 // but so much at least
	leastAll   = 64 << 20
	bodyGrace  = 20 * time.Second // until a body has come; longer for one that comes at bodySpeed
	bodySpeed  = 16 << 10         // bytes a second
	bodyWithin = 30 * time.Second // until it is understood
	piece      = 64 << 10         // of it that is read at once
)

// What parts of a body weigh, in bytes of memory.
const (
	weighByte  = 3   // of text: as it came, and in values
	weighValue = 64  // of JSON
	weighNode  = 160 // a value of YAML
	weighPair  = 128 // of a form
	weighWord  = 512 // of a form, and read as YAML
)

// Bodies is the room that the bodies of all requests have together, from when they come until their requests are
// answered. Any number of goroutines may use it.
type Bodies struct {
	one   int64
	large Room
	crowd door.Crowd
}

// NewBodies makes room for bodies of so many bytes at most.
func NewBodies(longest int64) *Bodies {
	return &Bodies{one: max(timesOne*longest, leastOne), large: Room{Most: atOnce},
		crowd: door.Crowd{MaxRequests: math.MaxInt32, MaxBytes: max(timesAll*longest, leastAll)}}
}

// Limits are those of one server.
type Limits struct {
	Longest int64         // bytes of a body
	Grace   time.Duration // for a short body to come; 0: 20 s
}

// Intake is a body that is read and understood. It has to be closed when its request is answered, and may be nil then.
type Intake struct {
	bodies *Bodies
	ctx    context.Context // of the request: the work ends with its client
	from   string
	text   string
	spent  int64   // in all
	left   int64   // of what has been granted
	grants []int64 // to be given back
	until  time.Time
	over   error // the first error of Spend: nothing is read after it
}

// Text is the body as it came.
func (in *Intake) Text() string { return in.text }

// Take reads the body of a request. An error says 413 for one that is declared, or is, too long; 503 when there is no
// room; 408 for one that does not come in time. Nobody reads what is left then (see Lingering).
func (b *Bodies) Take(w http.ResponseWriter, r *http.Request, from string, l Limits) (*Intake, error) {
	n := r.ContentLength
	if n > l.Longest {
		return nil, tooLarge()
	}
	if n < 0 { // it does not say
		n = l.Longest
	}
	if n > largeBody {
		if !b.large.Enter(from) {
			return nil, Busy("large bodies")
		}
		defer b.large.Leave(from)
	}
	if l.Grace == 0 {
		l.Grace = bodyGrace
	}
	in := &Intake{bodies: b, ctx: r.Context(), from: from,
		until: time.Now().Add(l.Grace + time.Duration(n/bodySpeed)*time.Second)}
	ctl := http.NewResponseController(w)
	err := unsupported(ctl.SetReadDeadline(in.until))
	if err == nil {
		err = in.read(r.Body, l.Longest)
	}
	if err == nil {
		err = unsupported(ctl.SetReadDeadline(time.Time{}))
	}
	if err != nil {
		in.Close()
		return nil, err
	}
	in.until = time.Now().Add(bodyWithin)
	return in, nil
}

// unsupported is an error that is none of a writer which has no deadlines, as in tests.
func unsupported(err error) error {
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

func (in *Intake) read(body io.Reader, longest int64) error {
	var text strings.Builder
	buf := make([]byte, piece)
	for {
		n, err := body.Read(buf)
		if int64(text.Len()+n) > longest {
			return tooLarge()
		}
		if full := in.Spend(weighByte * n); full != nil {
			return full
		}
		text.Write(buf[:n])
		if errors.Is(err, io.EOF) {
			in.text = text.String()
			return nil
		}
		if err != nil {
			return &Error{Status: http.StatusRequestTimeout, Message: "The body did not come in time"}
		}
	}
}

// Spend takes room for what a part of the body comes to. The error is a 413 for a body that comes to too much, or takes
// too long; a 503 when there is no room; that of the context when nobody waits for the answer any more.
func (in *Intake) Spend(bytes int) error {
	in.left -= int64(bytes)
	in.spent += int64(bytes)
	for in.left < 0 && in.over == nil {
		in.over = in.more()
	}
	return in.over
}

// Steps in which room is taken.
const (
	firstStep = 4 << 10
	lastStep  = 256 << 10
)

func (in *Intake) more() error {
	if in.ctx.Err() != nil {
		return context.Cause(in.ctx)
	}
	step := int64(lastStep)
	if known := len(in.grants); known < 6 {
		step = firstStep << known
	}
	switch {
	case in.spent > in.bodies.one, time.Now().After(in.until):
		return tooLarge()
	case !in.bodies.crowd.Enter(in.from, step):
		return Busy("bodies")
	}
	in.grants = append(in.grants, step)
	in.left += step
	return nil
}

// Close gives the room back.
func (in *Intake) Close() {
	if in == nil {
		return
	}
	for _, step := range in.grants {
		in.bodies.crowd.Leave(in.from, step)
	}
	in.grants = nil
}

func tooLarge() *Error { return &Error{Status: http.StatusRequestEntityTooLarge} }

// pays is what a reader of values asks before each of them.
func (in *Intake) pays(each int) func(values int) error {
	return func(values int) error { return in.Spend(values * each) }
}

// Pair takes the room of one pair of a form.
func (in *Intake) Pair() error { return in.Spend(weighPair) }

// Value takes the room of some values of JSON.
func (in *Intake) Value(n int) error { return in.Spend(n * weighValue) }
