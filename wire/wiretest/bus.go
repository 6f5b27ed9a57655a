package wiretest

import "brine/wire/payload"

// Stream is the traffic of one connection of an event socket.
type Stream struct {
	Release      string
	Socket       string // file name; "<id hash>" replaces the hash of a minion
	ToSubscriber bool   // else from a sender to the bus
	LengthPrefix bool   // four bytes of length before every frame
	Bytes        []byte
	Frames       [][]byte // the same as single frames, version 3 files only
	Events       []Event
}

// Event is a decoded event of a stream.
type Event struct {
	Tag  string
	Data *payload.Map
}

// Streams returns the recorded streams of the files eventbus_3006, eventbus_3007 and eventbus_v3.
func (f *File) Streams() []Stream {
	f.t.Helper()
	var out []Stream
	for _, m := range append(f.List("streams"), f.List("minion_streams")...) {
		s := Stream{
			Release: f.release(m), Socket: m.Str("socket"), LengthPrefix: m.Bool("length_prefix"),
			ToSubscriber: m.Str("direction") != "client to bus",
		}
		for _, e := range maps(m.List("events")) {
			s.Events = append(s.Events, Event{e.Str("tag"), e.Map("data")})
		}
		for _, e := range maps(m.List("frames")) {
			b := Hex(f.t, e, "frame_hex")
			s.Frames = append(s.Frames, b)
			s.Bytes = append(s.Bytes, b...)
			s.Events = append(s.Events, Event{e.Str("tag"), e.Map("data")})
		}
		if len(s.Frames) == 0 {
			s.Bytes = frame(f.t, m, "stream")
		}
		out = append(out, s)
	}
	return out
}
