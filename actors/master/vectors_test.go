package master

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"brine/wire/crypt"
	"brine/wire/payload"
	"brine/wire/wiretest"
)

// difference is a reason why answers of this master are not the recorded ones.
type difference struct{ why, labels string }

// differences is held against the recordings both ways: a request that all of them answer as this master does must
// not stand here.
var differences = []difference{
	{"the recording masters have files and pillars, this one has none yet",
		"aes_file_list aes_dir_list aes_symlink_list aes_file_find aes_file_hash aes_file_hash_and_stat " +
			"aes_serve_file aes_serve_file_gzip aes_serve_file_eof pillar_v3 pillar_v3_sha224 pillar_v3_ver1 v2_pillar " +
			"v1_pillar pillar_v2 pillar_v1 pillar_v0 pillar_v2_algos_sha224 pillar_v2_ver1"},
	{"a recorded master never answered; this one answers everything",
		"v3_load_id_missing v3_tok_int v3_ts_missing v3_ts_text version_map pillar_v3_bad_enc_algo " +
			"ping_after_bad_enc_algo_2"},
	{"3008 has words of its own for what cannot be routed; those of the older releases stand",
		"invalid_msgpack truncated_msgpack empty_frame"},
	{"an id that is no text, and an envelope that is neither clear nor encrypted, are refused",
		"clear_id_list unknown_enc_ping unknown_enc_file_envs"},
	{"the recording masters have other keys in their folders, and one of them no function for it",
		"wheel_key_list wheel_eauth"},
	{"the recorded text is that of a defect",
		"wheel_unknown_fun"},
	{"the shape of the ZeroMQ message counts, which is not replayed",
		"envelope_extra_empty_frame envelope_no_delimiter"},
	{"a job nobody knows is stored, not failed; and a syndic needs an accepted key",
		"aes_syndic_return"},
	{"the recorded masters fail where they should wait for returns",
		"aes_minion_publish aes_minion_publish_full"},
	{"a path with .. is refused, wherever it leads",
		"aes_file_recv_dotdot_inside aes_file_recv_traversal"},
	{"one answer for every release, that of 3008",
		"clear_no_cmd clear_ping_v2_nonce_is_popped aes_register_resources aes_register_resources_empty " +
			"v2_pillar_no_key_id"},
	{"a token that does not match is refused in clear, as 3006.28 and later do",
		"aes_master_tops_badtok aes_mine_badtok aes_minion_event_badtok aes_file_recv_badtok"},
	{"a command that carries a token is refused without",
		"v2_mine_no_tok v2_minion_event_no_tok"},
}

// settings are those of the recording masters as far as their answers show them.
var settings = []string{"external_auth: {auto: {tester: [test.*, '@runner', '@wheel', '@jobs'], tess: [test.*, " +
	"'@runner', '@wheel', '@jobs']}}",
	"peer: {m1: [test.*]}", "peer_run: {m1: [test.*]}", "file_recv: true", "request_server_ttl: 600",
	"request_timeout: 30"}

// recordings are the files of hand-made requests, with the release that answered and the settings it had.
var recordings = []struct{ file, release, conf string }{
	{"edge_v3", "3008.3", ""}, {"edge_v3", "3007.15", ""}, {"edge_v3", "3006.28", ""},
	{"edge_v3_min0", "3008.3", "minimum_auth_version: 0"}, {"edge_v3_min0", "3007.15", "minimum_auth_version: 0"},
	{"edge_v3_min0", "3006.28", "minimum_auth_version: 0"},
	{"edge_3006", "3006", "minimum_auth_version: 0"}, {"edge_3007", "3007", "minimum_auth_version: 0"},
}

// TestRecordedRequests sends every hand-made request that was recorded with real masters to ours, the loads sealed
// with our keys, and compares the answers.
func TestRecordedRequests(t *testing.T) {
	differs := map[string]bool{}
	for _, d := range differences {
		for label := range strings.FieldsSeq(d.labels) {
			differs[label] = true
		}
	}
	results := make(chan *replay, len(recordings))
	t.Run("files", func(t *testing.T) {
		for _, run := range recordings {
			t.Run(run.file+" "+run.release, func(t *testing.T) {
				t.Parallel() // some answers take seconds
				p := newReplay(t, newRig(t, append(settings, run.conf)...), differs)
				for _, e := range wiretest.Load(t, run.file).Exchanges() {
					if e.Release == run.release {
						p.check(e)
					}
				}
				results <- p
			})
		}
	})
	close(results)
	same := 0
	for p := range results {
		same += p.same
		for label := range p.used {
			delete(differs, label)
		}
	}
	for label := range differs {
		t.Errorf("%s stands among the differences, but does not differ", label)
	}
	if same < 200 {
		t.Errorf("only %d answers are the same", same)
	}
}

// replay sends recorded requests to a master of ours: the same loads under our keys, at our time.
type replay struct {
	t      *testing.T
	r      *rig
	m      *testMinion
	shared string
	shift  int64             // seconds between the recording and now
	swap   map[string]string // recorded keys and tokens → ours
	same   int

	differs, used map[string]bool
}

func newReplay(t *testing.T, r *rig, differs map[string]bool) *replay {
	return &replay{t: t, r: r, m: r.minion("m1"), shared: r.m.core.auth.SharedKey(), swap: map[string]string{},
		differs: differs, used: map[string]bool{}}
}

func (p *replay) check(e wiretest.Exchange) {
	p.learn(e)
	got, err := p.reply(e, p.r.send(p.request(e)))
	want := recorded(e)
	p.learnReply(got, want)
	switch got, want = settled(got), settled(want); {
	case err == nil && payload.Equal(got, want):
		p.same++
	case p.differs[e.Name]:
		p.used[e.Name] = true
	default:
		p.t.Errorf("%s: got %s, %v, want %s", e.Name, text(got), err, text(want))
	}
}

// learn finds the recorder's own key and the time of the recording.
func (p *replay) learn(e wiretest.Exchange) {
	if ts, ok := e.Request.Load.Int("ts"); ok && p.shift == 0 {
		p.shift = time.Now().Unix() - ts
	}
	if m, ok := e.Request.Decoded.(*payload.Map); ok {
		if key := m.Map("load").Str("key"); len(key) > 60 {
			p.swap[key] = p.r.rootKey()
		}
	}
}

// learnReply notes our token in place of the recorded one.
func (p *replay) learnReply(got, want any) {
	ours, _ := got.(*payload.Map)
	theirs, _ := want.(*payload.Map)
	if tok := theirs.Str("token"); tok != "" && ours.Str("token") != "" {
		p.swap[tok] = ours.Str("token")
	}
}

// request makes the frame of a recorded request. What was made with a wrong key is sent as it is.
func (p *replay) request(e wiretest.Exchange) []byte {
	if e.Request.Plain == nil {
		if m, ok := e.Request.Decoded.(*payload.Map); ok && m.Str("enc") != "aes" {
			return packed(p.t, p.translate(m))
		}
		return e.Request.Frame
	}
	envelope := decoded(p.t, e.Request.Frame).(*payload.Map)
	return packed(p.t, envelope.Set("load", sealed(p.t, p.key(e), p.translate(e.Request.Plain))))
}

func (p *replay) key(e wiretest.Exchange) string {
	if e.Request.KeyName == "session" {
		return p.r.sessionOf("m1")
	}
	return p.shared
}

// translate puts our keys, tokens and times in place of the recorded ones.
func (p *replay) translate(v any) any {
	switch v := v.(type) {
	case string:
		if ours, ok := p.swap[v]; ok {
			return ours
		}
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = p.translate(x)
		}
		return out
	case *payload.Map:
		out := payload.NewMap(v.Len())
		for k, x := range v.All() {
			switch ts := x.(type) {
			case int64:
				switch k {
				case "ts":
					x = ts + p.shift
				case "tmo", "timeout": // nobody answers the jobs of a replay
					x = int64(1)
				}
			case float64:
				if k == "ts" {
					x = ts + float64(p.shift)
				}
			default:
				x = p.translate(x)
			}
			out.Set(k, x)
		}
		return out
	}
	return v
}

// reply decodes our reply as the recorded one was decoded.
func (p *replay) reply(e wiretest.Exchange, frame []byte) (any, error) {
	v := decoded(p.t, frame)
	if m, ok := v.(*payload.Map); ok && m.Has("pillar") {
		return p.pillar(e, m)
	}
	if payload.AsBytes(v) == nil || len(frame) < 64 {
		return v, nil
	}
	if _, isText := v.(string); isText {
		return v, nil
	}
	box, err := crypt.NewBox(p.key(e))
	if err != nil {
		return nil, err
	}
	nonce := ""
	if e.Reply != nil {
		nonce = e.Reply.Nonce
	}
	plain, err := box.Open(payload.AsBytes(v), nonce)
	if err != nil {
		return nil, fmt.Errorf("sealed reply: %w", err)
	}
	return payload.Unmarshal(plain)
}

// pillar opens a private reply.
func (p *replay) pillar(e wiretest.Exchange, m *payload.Map) (any, error) {
	algo := crypt.OAEPSHA1
	if env, ok := decoded(p.t, e.Request.Frame).(*payload.Map); ok && env.Has("enc_algo") {
		algo = env.Str("enc_algo")
	}
	key, err := p.r.pair("minion").Decrypt(algo, m.Bytes("key"))
	if err != nil {
		return nil, fmt.Errorf("key of the pillar: %w", err)
	}
	box, err := crypt.NewBox(string(key))
	if err != nil {
		return nil, err
	}
	plain, err := box.Open(m.Bytes("pillar"), "")
	if err != nil {
		return nil, fmt.Errorf("pillar: %w", err)
	}
	v, err := payload.Unmarshal(plain)
	if signed, ok := v.(*payload.Map); err == nil && ok && signed.Has("sig") {
		v, err = payload.Unmarshal(signed.Bytes("data"))
	}
	return v, err
}

// recorded is what the real master answered.
func recorded(e wiretest.Exchange) any {
	switch r := e.Reply; {
	case r == nil:
		return "no answer"
	case r.Encrypted:
		return r.Decrypted
	case r.PillarData != nil:
		return r.PillarData
	case r.PillarPlain != nil:
		return r.PillarPlain
	case r.SignedLoad != nil:
		return payload.M("signed", r.SignedLoad)
	default:
		return r.Decoded
	}
}

var (
	anyJID   = regexp.MustCompile(`\b20\d{18}\b`)
	anyToken = regexp.MustCompile(`\b[0-9a-f]{64}\b`)
)

// settled takes out of an answer what is different each time.
func settled(v any) any {
	switch v := v.(type) {
	case string:
		return anyToken.ReplaceAllString(anyJID.ReplaceAllString(v, "JID"), "TOKEN")
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = settled(x)
		}
		return out
	case *payload.Map:
		out := payload.NewMap(v.Len())
		for k, x := range v.All() {
			switch k {
			case "_stamp", "start", "expire", "key": // the key of a pillar is made for each reply
			default:
				out.Set(k, settled(x))
			}
		}
		return out
	}
	return v
}

// text shows a value in one line.
func text(v any) string {
	switch v := v.(type) {
	case *payload.Map:
		var parts []string
		for k, x := range v.All() {
			parts = append(parts, fmt.Sprintf("%v: %s", k, text(x)))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		var parts []string
		for _, x := range v {
			parts = append(parts, text(x))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case []byte:
		return fmt.Sprintf("% x", v[:min(len(v), 20)])
	}
	return fmt.Sprintf("%#v", v)
}
