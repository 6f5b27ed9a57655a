package reqserver

import (
	"log/slog"
	"sync/atomic"
	"time"

	"brine/actors/master/access"
	"brine/wire/auth"
	"brine/wire/payload"
)

// Request is one message from the request port until it is answered. It is passed from actor to actor and
// owned by one at a time; any of them may answer it.
type Request struct {
	Env      *payload.Request
	Opened   atomic.Pointer[auth.Opened] // nil until a worker has checked it
	Frame    []byte                      // as it came, if it came in clear
	Size     int                         // of it as it came, in bytes
	Pool     int                         // the pool it waits in
	inside   bool                        // it came from this process
	Known    func()                      // tells that its sender is known; nil: nobody wants to hear it
	Sealed   func()                      // tells that its box has opened; nil: nobody wants to hear it
	stranger bool                        // its connection had shown nothing when it came
	begun    *atomic.Bool                // set when a worker has it
	From     string                      // address of the peer, "" when it is not known
	// by which all of it is judged: those of the moment when a worker first took it
	Rules   *access.Rules
	Login   *access.Login // nil until external authentication was tried
	NoFiles bool          // its sender looks in no files of the job it asks for
	At      time.Time     // when it arrived
	given   time.Time     // when a worker got it; the zero time before

	// where its answer is packed, of one whose reply keeps nothing of the frame; nil: anywhere
	scratch *scratch
	reply   func(frame []byte) // sends to the peer
	// the same without a copy (zmq.Router.AnswerLent); nil: there is no such way
	lend     func(frame []byte, out *atomic.Int32)
	Answered atomic.Bool
}

// ReadRequest reads the envelope of a message. The request can be answered also when there is an error.
func ReadRequest(m *HandleRequest) (*Request, error) {
	r := &Request{At: m.At, From: m.From, reply: m.Reply, inside: m.Inside, begun: &m.begun, Size: len(m.Frame)}
	env, err := payload.DecodeRequest(m.Frame)
	if err != nil {
		return r, err
	}
	env.From = m.From
	r.Env, r.NoFiles = env, env.NoFiles
	if env.Enc == payload.EncClear {
		r.Frame = m.Frame
	}
	return r, nil
}

// Answer sends the one reply; whoever comes later (a deadline, a worker that was slow) is ignored.
func (r *Request) Answer(frame []byte) {
	if r.Answered.CompareAndSwap(false, true) {
		r.reply(frame)
	}
}

// Fail answers as Salt does when a handler fails: a text in clear, an empty text in the minion's own box. To a
// minion a text in clear would mean that it has to sign in again.
func (r *Request) Fail() {
	o := r.Opened.Load()
	if o == nil || o.Clear {
		r.Answer(TextFailed)
		return
	}
	r.Answer(o.Seal(textEmpty))
}

// Finish packs and seals the answer of a handler.
func (r *Request) Finish(v any, log *slog.Logger) {
	if frame, ok := v.(RawFrame); ok {
		r.Answer(frame)
		return
	}
	place := r.scratch.take(v)
	used := place.room
	defer func() { place.leave(used) }()
	o := r.Opened.Load()
	frame, used, err := o.SealIn(place.room, r.scratch.together(), func(dst []byte) ([]byte, error) {
		return payload.Append(dst, v)
	})
	if err != nil {
		log.Error("answer cannot be packed", "cmd", o.Cmd, "minion", o.ID, "err", err)
		r.Fail()
		return
	}
	r.answerFrom(&place, frame)
}

// answerFrom is answer for a frame that may stand in a room from which it can be sent.
func (r *Request) answerFrom(place *answerRoom, frame []byte) {
	out := place.lends(frame)
	if out == nil || r.lend == nil {
		r.Answer(frame)
	} else if r.Answered.CompareAndSwap(false, true) {
		r.lend(frame, out)
	}
}

// Lost answers a request whose worker died of it: the peer must not wait, and a REQ socket without a reply
// cannot be used again.
func (r *Request) Lost(error) { r.Fail() }

// Replies in clear that need no packing each time.
var (
	TextFailed  = packText(payload.TextHandlerFailed)
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

// RawFrame is an answer that is a whole frame already (private replies).
type RawFrame []byte

// ErrorReply is Salt's form of a refusal.
func ErrorReply(name, message string) *payload.Map {
	return payload.M("error", payload.M("name", name, "message", message))
}
