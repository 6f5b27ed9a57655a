package master

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"brine/wire/auth"
	"brine/wire/payload"
)

// ret makes the load of a return.
func ret(id, jid string, kv ...any) *payload.Map {
	load := payload.M("cmd", "_return", "id", id, "jid", jid, "fun", "test.ping", "fun_args", []any{}, "return", true,
		"retcode", 0, "success", true)
	load.Update(payload.M(kv...))
	return load
}

// stored is what the job store holds of a job.
func (r *rig) stored(jid string) *payload.Map {
	r.t.Helper()
	m, err := r.m.stores.jobs.GetJID(jid)
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

const someJID = "20260101000000000001"

func TestReturn(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	ear := r.hear()
	equal(t, "answer", m.ask(ret("m1", someJID, "out", "txt", "metadata", payload.M("a", 1))), nil)
	data := ear.await("salt/job/" + someJID + "/ret/m1")
	for _, k := range []string{"_stamp", "ts"} {
		if !data.Has(k) {
			t.Errorf("the event has no %s", k)
		}
		data.Delete(k)
	}
	equal(t, "event", data, ret("m1", someJID, "out", "txt", "metadata", payload.M("a", 1)))
	equal(t, "stored", r.stored(someJID), payload.M("m1", payload.M("return", true, "retcode", 0, "success", true,
		"out", "txt")))
}

// TestReturnTwice: the first return counts, the event goes out each time, and a difference is said.
func TestReturnTwice(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	ear := r.hear()
	for _, value := range []any{"one", "one", "two"} {
		equal(t, "answer", m.ask(ret("m1", someJID, "return", value)), nil)
		equal(t, "event", ear.await("salt/job/"+someJID+"/ret/m1").Value("return"), value)
	}
	equal(t, "stored", r.stored(someJID).Map("m1").Value("return"), "one")
	r.log.Await(t, "An extra return was detected from minion m1")
}

// TestReturnIgnored: what is no return is answered and has no effect.
func TestReturnIgnored(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	ear := r.hear()
	for _, without := range []string{"return", "jid"} {
		load := ret("m1", someJID)
		load.Delete(without)
		equal(t, "without "+without, m.ask(load), nil)
	}
	equal(t, "resource with a bad id", m.ask(ret("m1", someJID, "resource_id", "../x")), nil)
	r.m.Fire("test/end", payload.NewMap(0))
	if seen := ear.until("test/end"); len(seen) > 0 {
		t.Errorf("events %q", seen)
	}
	if got := r.stored(someJID); got.Len() > 0 {
		t.Errorf("stored %v", got)
	}
}

// TestReturnOddJID: a job id that can be no file name is answered and not stored.
func TestReturnOddJID(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	for _, jid := range []string{"../../x", "a/b", "", "..", "x\x00y"} {
		if got := m.ask(ret("m1", jid)); got != nil {
			t.Errorf("jid %q: got %v", jid, got)
		}
	}
	if _, err := os.Stat(filepath.Join(r.dir, "x")); err == nil {
		t.Error("a file was made outside")
	}
}

func TestReturnReq(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	ear := r.hear()
	equal(t, "answer", m.ask(ret("m1", "req", "fun_args", []any{"x"})), nil)
	var data *payload.Map
	for data == nil {
		if tag, d := ear.next(); filepath.Base(tag) == "m1" {
			data = d
		}
	}
	jid := data.Str("jid")
	if !payload.IsJID(jid) {
		t.Fatalf("jid %q", jid)
	}
	equal(t, "arg", data.Value("arg"), []any{"x"})
	equal(t, "tgt", data.Value("tgt"), "m1")
	equal(t, "tgt_type", data.Value("tgt_type"), "glob")
	equal(t, "stored", r.stored(jid).Map("m1").Value("return"), true)
	r.eventually("load of the job", func() error {
		load, err := r.m.stores.jobs.Load(jid)
		if err == nil && load.Str("fun") != "test.ping" {
			err = os.ErrNotExist
		}
		return err
	})
}

func TestReturnNocache(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	ear := r.hear()
	equal(t, "jid nocache", m.ask(ret("m1", "nocache")), nil)
	ear.await("salt/job/nocache/ret/m1")
	jid := r.publish(payload.M("tgt", "m1", "fun", "test.ping", "kwargs", payload.M("nocache", true)))
	equal(t, "job without cache", m.ask(ret("m1", jid)), nil)
	ear.await("salt/job/" + jid + "/ret/m1")
	if got := r.stored(jid); got.Len() > 0 {
		t.Errorf("stored %v", got)
	}
}

func TestReturnWithoutJobCache(t *testing.T) {
	for _, conf := range []string{"job_cache: false", "ext_job_cache: redis"} {
		r := newRig(t, conf)
		m := r.minion("m1")
		ear := r.hear()
		equal(t, "answer", m.ask(ret("m1", someJID)), nil)
		ear.await("salt/job/" + someJID + "/ret/m1")
		if got := r.stored(someJID); got.Len() > 0 {
			t.Errorf("%s: stored %v", conf, got)
		}
	}
}

func TestReturnOfResource(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	ear := r.hear()
	equal(t, "register", m.ask(cmd("_register_resources", "resources", payload.M("ssh", []any{"r1"}))), true)
	jid := r.publish(payload.NewMap(0))
	equal(t, "answer", m.ask(ret("m1", jid, "resource_id", "r1")), nil)
	data := ear.await("salt/job/" + jid + "/ret/r1")
	equal(t, "id", data.Value("id"), "r1")
	if data.Has("resource_id") {
		t.Error("the event has resource_id")
	}
	equal(t, "stored", r.stored(jid).Map("r1").Value("return"), true)
}

// TestReturnStateErrors: each failed state of state.sls and state.highstate is fired twice, of nothing else.
func TestReturnStateErrors(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	states := payload.M(
		"file_|-good_|-/a_|-managed", payload.M("result", true, "comment", ""),
		"pkg_|-bad_|-vim_|-installed", payload.M("result", false, "comment", "no"),
		"odd", "text")
	ear := r.hear()
	m.ask(ret("m1", someJID, "fun", "state.sls", "return", states, "retcode", 2, "user", "root"))
	ear.await("salt/job/" + someJID + "/ret/m1")
	tag, data := ear.next()
	data.Delete("_stamp")
	equal(t, "first tag", tag, "pkg.installed")
	equal(t, "first event", data, payload.M("result", false, "comment", "no", "retcode", 2))
	tag, data = ear.next()
	data.Delete("_stamp")
	equal(t, "second tag", tag, "salt/job/"+someJID+"/sub/m1/error/state.sls")
	equal(t, "second event", data, payload.M("result", false, "comment", "no", "retcode", 2, "jid", someJID, "id", "m1",
		"success", false, "return", "Error: pkg.installed", "fun", "state.sls", "user", "root"))

	m.ask(ret("m1", someJID, "fun", []any{"test.ping", "state.sls"}, "return", payload.M("test.ping", true, "state.sls",
		states), "retcode", payload.M("test.ping", 0, "state.sls", 1)))
	ear.await("pkg.installed")
	for _, load := range []*payload.Map{
		ret("m1", someJID, "fun", "state.apply", "return", states, "retcode", 2),
		ret("m1", someJID, "fun", "state.sls", "return", states, "retcode", 0),
		ret("m1", someJID, "fun", "state.sls", "return", []any{"error"}, "retcode", 1),
	} {
		r.m.Fire("test/begin", payload.NewMap(0))
		ear.await("test/begin")
		m.ask(load)
		r.m.Fire("test/end", payload.NewMap(0))
		if seen := ear.until("test/end"); len(seen) != 1 {
			t.Errorf("%v: events %q", load, seen)
		}
	}
}

// TestReturnStamp: the time of an event is the master's, whatever the minion says.
func TestReturnStamp(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	ear := r.hear()
	m.ask(ret("m1", someJID, "_stamp", "1999-01-01T00:00:00.000000"))
	if got := ear.await("salt/job/" + someJID + "/ret/m1").Str("_stamp"); got[:2] != "20" {
		t.Errorf("stamp %q", got)
	}
}

func TestReturnSigned(t *testing.T) {
	sign := func(o *auth.MinionOptions) { o.SignMessages = true }
	for _, tt := range []struct {
		name, conf string
		signs      bool
		forge      bool
		want       any
		stored     bool
	}{
		{"required and there", "require_minion_sign_messages: true", true, false, nil, true},
		{"required and missing", "require_minion_sign_messages: true", false, false, false, false},
		{"forged and dropped", "drop_messages_signature_fail: true", true, true, false, false},
		{"forged and let pass", "", true, true, nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, tt.conf)
			var m *testMinion
			if tt.signs {
				m = r.minion("m1", sign)
			} else {
				m = r.minion("m1")
			}
			if !tt.forge {
				equal(t, "answer", m.ask(ret("m1", someJID)), tt.want)
			} else {
				load := ret("m1", someJID, "ts", time.Now().Unix(), "tok", m.Token(), "nonce", testNonce, "sig",
					make([]byte, 256))
				frame := r.send(packed(t, payload.M("enc", "aes", "load", sealed(t, r.sessionOf("m1"), load), "version",
					3, "id", "m1")))
				equal(t, "answer", unsealed(t, r.sessionOf("m1"), testNonce, frame), tt.want)
			}
			if got := r.stored(someJID).Has("m1"); got != tt.stored {
				t.Errorf("stored: %v", got)
			}
		})
	}
}

func TestSyndicReturn(t *testing.T) {
	r := newRig(t, "order_masters: true")
	m := r.minion("syn1")
	ear := r.hear()
	one := payload.M("id", "syn1", "jid", someJID, "fun", "test.ping", "fun_args", []any{}, "master_id", "top",
		"load", payload.M("fun", "test.ping", "tgt", "*", "user", "root", "key", "secret"),
		"return", payload.M("m8", payload.M("return", true, "retcode", 0, "success", true), "m9",
			payload.M("return", "x", "retcode", 1, "success", false)))
	equal(t, "answer", m.ask(cmd("_syndic_return", "load", []any{one, payload.M("jid", someJID)})), nil)
	data := ear.await("salt/job/" + someJID + "/ret/m8")
	data.Delete("_stamp")
	equal(t, "event", data, payload.M("jid", someJID, "id", "m8", "return", true, "retcode", 0, "success", true,
		"master_id", "top", "fun", "test.ping", "fun_args", []any{}))
	ear.await("salt/job/" + someJID + "/ret/m9")
	r.eventually("returns in the store", func() error {
		if got := r.stored(someJID); got.Len() != 2 {
			return os.ErrNotExist
		}
		return nil
	})
	load, err := r.m.stores.jobs.Load(someJID)
	if err != nil || load.Str("tgt") != "*" || load.Has("key") {
		t.Errorf("load %v, %v", load, err)
	}
	if _, err := os.Stat(filepath.Join(r.cfg.SyndicDir, "syn1")); err != nil {
		t.Error(err)
	}
	equal(t, "old form", m.ask(cmd("_syndic_return", "id", "syn1", "jid", someJID, "return",
		payload.M("m10", payload.M("return", 1)))), nil)
	ear.await("salt/job/" + someJID + "/ret/m10")
}
