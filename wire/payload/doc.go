// Package payload is the vocabulary of values that cross brine's wires, and the msgpack rules that pack them: maps that
// keep their order, the two string modes, the envelopes of requests and publications, command names and job ids. It
// holds no sockets, no ciphers and no handlers.
//
// A value is one of
//
//	nil  bool  int64  uint64 (above MaxInt64 only)  float64
//	string (text)  []byte  []any  *Map  Time (ext 78)  Ext (any other ext)
//
// and decoders return only such values. Encoders also accept the other integer and float types of Go, [Bytes],
// []string, map[string]any (packed in key order), time.Time and *big.Int, and slices, maps and named types made of
// them.
//
// Salt packs with two rules. The wire rule ([Marshal], [Unmarshal]) knows only one kind of string: text and bytes are
// both "raw", and valid UTF-8 is read as text. ZeroMQ messages, tokens and job load files use it. The bin rule
// ([MarshalBin], [UnmarshalBin]) tells text from bytes; the event bus, the tcp transport and signed loads use it.
//
// Answers to salt/payload.py, salt/utils/msgpack.py and salt/transport/frame.py.
package payload
