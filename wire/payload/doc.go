// Package payload is the vocabulary of values that cross brine's wires and the msgpack rules that pack
// them: maps that keep their order, the two string modes, the envelopes of requests and publications,
// command names and job ids. It holds no sockets, no ciphers and no handlers.
//
// A value is one of
//
//	nil  bool  int64  uint64 (above MaxInt64 only)  float64
//	string (text)  []byte  []any  *Map  Time (ext 78)  Ext (any other ext)
//
// and everything a decoder returns is made of these. Encoders also take the other integer and float
// types of Go, [Bytes], []string, map[string]any (packed in key order), time.Time and *big.Int, and
// slices, maps and named types made of them.
//
// Salt packs with two rules. The wire rule ([Marshal], [Unmarshal]) knows only one kind of string: text
// and bytes are both "raw", and whatever is valid UTF-8 is read as text. It is used by everything that
// travels by ZeroMQ and by token and job load files. The bin rule ([MarshalBin], [UnmarshalBin]) tells
// them apart; the event bus, the tcp transport and signed loads use it.
//
// Answers to salt/payload.py, salt/utils/msgpack.py and salt/transport/frame.py.
package payload
