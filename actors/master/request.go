package master

import (
	"log/slog"
	"sync/atomic"
	"time"

	"brine/actors/master/access"
	"brine/wire/auth"
	"brine/wire/payload"
)

// request is one message from the request port until it is answered. It is passed from actor to actor and
// owned by one at a time; any of them may answer it.
type request struct {
	env      *payload.Request
	opened   atomic.Pointer[auth.Opened] // nil until a worker has checked it
	frame    []byte                      // as it came, if it came in clear
	size     int                         // of it as it came, in bytes
	pool     int                         // the pool it waits in
	inside   bool                        // it came from this process
	known    func()                      // tells that its sender is known; nil: nobody wants to hear it
	sealed   func()                      // tells that its box has opened; nil: nobody wants to hear it
	stranger bool                        // its connection had shown nothing when it came
	begun    *atomic.Bool                // set when a worker has it
	from     string                      // address of the peer, "" when it is not known
	// by which all of it is judged: those of the moment when a worker first took it
	rules   *access.Rules
	login   *access.Login // nil until external authentication was tried
	noFiles bool          // its sender looks in no files of the job it asks for
	at      time.Time     // when it arrived
	given   time.Time     // when a worker got it; the zero time before

	// where its answer is packed, of one whose reply keeps nothing of the frame; nil: anywhere
	scratch *scratch
	reply   func(frame []byte) // sends to the peer
	// the same without a copy (zmq.Router.AnswerLent); nil: there is no such way
	lend     func(frame []byte, out *atomic.Int32)
	answered atomic.Bool
}

// readRequest reads the envelope of a message. The request can be answered also when there is an error.
func readRequest(m *HandleRequest) (*request, error) {
	r := &request{at: m.At, from: m.From, reply: m.Reply, inside: m.Inside, begun: &m.begun, size: len(m.Frame)}
	env, err := payload.DecodeRequest(m.Frame)
	if err != nil {
		return r, err
	}
	env.From = m.From
	r.env, r.noFiles = env, env.NoFiles
	if env.Enc == payload.EncClear {
		r.frame = m.Frame
	}
	return r, nil
}

// answer sends the one reply; whoever comes later (a deadline, a worker that was slow) is ignored.
func (r *request) answer(frame []byte) {
	if r.answered.CompareAndSwap(false, true) {
		r.reply(frame)
	}
}

// fail answers as Salt does when a handler fails: a text in clear, an empty text in the minion's own box. To a
// minion a text in clear would mean that it has to sign in again.
func (r *request) fail() {
	o := r.opened.Load()
	if o == nil || o.Clear {
		r.answer(textFailed)
		return
	}
	r.answer(o.Seal(textEmpty))
}

// finish packs and seals the answer of a handler.
func (r *request) finish(v any, log *slog.Logger) {
	if frame, ok := v.(rawFrame); ok {
		r.answer(frame)
		return
	}
	place := r.scratch.take(v)
	used := place.room
	defer func() { place.leave(used) }()
	o := r.opened.Load()
	frame, used, err := o.SealIn(place.room, r.scratch.together(), func(dst []byte) ([]byte, error) {
		return payload.Append(dst, v)
	})
	if err != nil {
		log.Error("answer cannot be packed", "cmd", o.Cmd, "minion", o.ID, "err", err)
		r.fail()
		return
	}
	r.answerFrom(&place, frame)
}

// answerFrom is answer for a frame that may stand in a room from which it can be sent.
func (r *request) answerFrom(place *answerRoom, frame []byte) {
	out := place.lends(frame)
	if out == nil || r.lend == nil {
		r.answer(frame)
	} else if r.answered.CompareAndSwap(false, true) {
		r.lend(frame, out)
	}
}

// Lost answers a request whose worker died of it: the peer must not wait, and a REQ socket without a reply
// cannot be used again.
func (r *request) Lost(error) { r.fail() }

// Replies in clear that need no packing each time.
var (
	textFailed  = packText(payload.TextHandlerFailed)
	textEmpty   = packText("")
	textBadLoad = packText(payload.TextBadLoad)
	msgBadLoad  = mustPack(payload.M("msg", payload.TextBadLoad))
)

func packText(s string) []byte { return mustPack(s) }

// mustPack packs a constant; such a value always packs.
func mustPack(v any) []byte {
	b, err := payload.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}

// rawFrame is an answer that is a whole frame already (private replies).
type rawFrame []byte

// errorReply is Salt's form of a refusal.
func errorReply(name, message string) *payload.Map {
	return payload.M("error", payload.M("name", name, "message", message))
}
