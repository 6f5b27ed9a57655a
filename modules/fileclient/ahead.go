package fileclient

import (
	"context"

	"brine/wire/payload"
)

// piecesAhead is how many pieces are asked for while another one is written. Each keeps one of the five workers of a
// master of Salt busy, and a megabyte of both sides: one is enough to hide the way there and the work of the master.
const piecesAhead = 1

// roomBeside is what an answer has beside its piece, at most, in bytes: mark, nonce, padding, names of fields, the
// path.
const roomBeside = 16 << 10

// piece is a part of a file as it came.
type piece struct {
	loc    int64
	data   []byte // until it is given back
	packed bool   // by gzip
	err    error
	room   []byte
}

// reader asks for the pieces of a file in order. Once it knows how long they are it asks for some before they are
// wanted.
type reader struct {
	t      *transfer
	ctx    context.Context
	cancel context.CancelFunc
	step   int64         // length of the pieces; 0: not known yet, so that one is asked for at a time
	next   int64         // where the next request begins
	coming []chan *piece // requests under way, in order
	rooms  [][]byte      // for answers, that nobody uses
	beside payload.Beside
}

func (t *transfer) reader(ctx context.Context, h *hashing) *reader {
	r := &reader{t: t, beside: h.take}
	r.ctx, r.cancel = context.WithCancel(ctx)
	return r
}

// at gives the piece at loc. One that was asked for elsewhere, because the pieces are not as long as they were, is
// forgotten.
func (r *reader) at(loc int64) *piece {
	if len(r.coming) == 0 {
		r.next = loc
		r.ask()
	}
	p := <-r.coming[0]
	r.coming = r.coming[1:]
	if p.loc != loc {
		r.giveBack(p)
		r.drain()
		return r.at(loc)
	}
	return p
}

// comes tells whether something is under way.
func (r *reader) comes() bool { return len(r.coming) > 0 }

// again asks once more for the piece that did not come.
func (r *reader) again(lost *piece) {
	r.giveBack(lost)
	r.coming = append([]chan *piece{r.begin(lost.loc)}, r.coming...)
}

// ahead asks for more, now that a piece has come, which somebody is going to write. One of another length than those
// before is the last one.
func (r *reader) ahead(p *piece) {
	n := int64(len(p.data))
	if p.packed { // how long it really is shows later
		return
	}
	if first := r.step == 0; first {
		r.step, r.next = n, p.loc+n
	} else if r.step != n {
		return
	}
	for len(r.coming) < piecesAhead {
		r.ask()
	}
}

// ask asks for the next piece.
func (r *reader) ask() {
	r.coming = append(r.coming, r.begin(r.next))
	r.next += r.step
}

// begin begins a request.
func (r *reader) begin(loc int64) chan *piece {
	room := []byte(nil)
	if n := len(r.rooms); n > 0 {
		room, r.rooms = r.rooms[n-1], r.rooms[:n-1]
	} else if r.step > 0 {
		room = make([]byte, 0, r.step+roomBeside+directAlign)
	}
	came := make(chan *piece, 1)
	ctx, load := r.ctx, r.t.load(loc)
	go func() { came <- r.t.piece(ctx, load, loc, room, r.beside) }()
	return came
}

// giveBack says that the bytes of a piece are needed no more. What comes next will lie in its room as they did, and so
// that it can be written past the page cache without another copy.
func (r *reader) giveBack(p *piece) {
	room := p.room
	if room == nil {
		return
	}
	if len(p.data) > 0 {
		if skip := beforePage(p.data); int64(cap(room)-skip) >= r.step+roomBeside {
			room = room[skip:skip]
		}
	}
	r.rooms = append(r.rooms, room)
}

// drain waits for what is under way, and forgets it.
func (r *reader) drain() {
	for _, c := range r.coming {
		r.giveBack(<-c)
	}
	r.coming = nil
}

// abandon ends what is under way, and whoever waits for it.
func (r *reader) abandon() {
	r.cancel()
	r.drain()
}

// load is the question for a piece.
func (t *transfer) load(loc int64) *payload.Map {
	load := payload.M("path", t.name, "saltenv", t.want.Env, "cmd", payload.CmdServeFile)
	if t.want.Gzip > 0 {
		load.Set("gzip", t.want.Gzip)
	}
	return load.Set("loc", loc)
}
