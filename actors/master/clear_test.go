package master

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"brine/actors/actortest"
	"brine/modules/fleet/jobstore"
	"brine/modules/fleet/keys"
	"brine/wire/event"
	"brine/wire/payload"
)

// publishLoad is what the command line of root sends.
func (r *rig) publishLoad(kv *payload.Map) *payload.Map {
	load := payload.M("cmd", "publish", "tgt", "*", "fun", "test.ping", "arg", []any{}, "key", r.rootKey(), "tgt_type",
		"glob", "ret", "", "jid", "", "user", userName())
	load.Update(kv)
	return load
}

// publish sends a job and returns its id.
func (r *rig) publish(kv *payload.Map) string {
	r.t.Helper()
	reply, _ := r.clear(r.publishLoad(kv)).(*payload.Map)
	jid := reply.Map("load").Str("jid")
	if !payload.IsJID(jid) {
		r.t.Fatalf("publish: %s", text(reply))
	}
	return jid
}

func TestPublish(t *testing.T) {
	r := newRig(t)
	r.accept("m1", "minion")
	r.accept("m2", "minion")
	ear := r.hear()
	reply := r.clear(r.publishLoad(payload.M("tgt", "m*", "fun", "test.echo", "arg", []any{"hi"}, "kwargs",
		payload.M("delimiter", ":", "show_jid", false))))
	jid := reply.(*payload.Map).Map("load").Str("jid")
	equal(t, "reply", reply, payload.M("enc", "clear", "load", payload.M("jid", jid, "minions", []any{"m1", "m2"},
		"missing", []any{})))

	tag, data := ear.next()
	data.Delete("_stamp")
	equal(t, "first tag", tag, jid)
	equal(t, "first event", data, payload.M("minions", []any{"m1", "m2"}))
	tag, data = ear.next()
	data.Delete("_stamp")
	equal(t, "second tag", tag, "salt/job/"+jid+"/new")
	equal(t, "second event", data, payload.M("jid", jid, "tgt_type", "glob", "tgt", "m*", "user", userName(), "fun",
		"test.echo", "arg", []any{"hi"}, "minions", []any{"m1", "m2"}, "missing", []any{}))
	tag, data = ear.next()
	data.Delete("_stamp")
	equal(t, "third tag", tag, "salt/job/"+jid+"/publish")
	equal(t, "third event", data, payload.M("fun", "test.echo", "arg", []any{"hi"}, "tgt", "m*", "jid", jid, "ret", "",
		"tgt_type", "glob", "user", userName()))

	dir := r.jobDir(jid)
	load, err := payload.UnmarshalMap([]byte(r.read(filepath.Join(dir, ".load.p"))))
	if err != nil || load.Str("fun") != "test.echo" || load.Has("key") || !load.Has("kwargs") {
		t.Errorf("load file: %v, %v", load, err)
	}
	if strings.Contains(r.read(filepath.Join(dir, ".load.p")), r.rootKey()) {
		t.Error("the load file holds the key")
	}
}

// slowFiles is a job cache that writes the files of a job when it is told to.
type slowFiles struct {
	jobCache
	write chan struct{}
	err   error // for the next one
}

func (s *slowFiles) Announce(l jobstore.Load) error {
	<-s.write
	if err := s.err; err != nil {
		s.err = nil
		return err
	}
	return s.jobCache.Announce(l)
}

// TestPublishBeforeFiles: the job goes out and its return is stored while the files for Salt's own tools wait; the
// answer waits for them. Files that could not be written are written with the store.
func TestPublishBeforeFiles(t *testing.T) {
	for _, refused := range []error{nil, errors.New("no room")} {
		t.Run(fmt.Sprint("refused: ", refused), func(t *testing.T) {
			r, slow := newSite(t), &slowFiles{write: make(chan struct{}), err: refused}
			r.jobs = func(own jobCache) jobCache { slow.jobCache = own; return slow }
			r.start()
			r.accept("m1", "minion")
			m := r.minion("m1")
			ear := r.hear()
			answered := make(chan error, 1)
			load := r.publishLoad(payload.M("tgt", "m*"))
			q, frame := r.connect(), packed(t, payload.M("enc", "clear", "load", load, "version", 3))
			go func() {
				_, err := q.Do(testContext(t), frame)
				answered <- err
			}()
			jid, _ := ear.next()
			ear.await(event.TagJobPublish(jid))
			m.ask(ret("m1", jid))
			equal(t, "load", r.stored(jid).Len(), 1)
			select {
			case <-answered:
				t.Fatal("the answer came before the files")
			default:
			}
			close(slow.write)
			if err := actortest.Wait(t, "answer", answered); err != nil {
				t.Fatal(err)
			}
			r.eventually("load file", func() error {
				found, err := filepath.Glob(filepath.Join(r.cfg.CacheDir, "jobs", "*", "*", ".load.p"))
				if err == nil && len(found) != 1 {
					err = fmt.Errorf("%d load files", len(found))
				}
				return err
			})
			written, err := payload.UnmarshalMap([]byte(r.read(filepath.Join(r.jobDir(jid), ".load.p"))))
			if err != nil || written.Str("tgt") != "m*" {
				t.Errorf("load file: %v, %v", written, err)
			}
		})
	}
}

// TestPublishNoFiles: who looks in no files gets none, and the job is known all the same.
func TestPublishNoFiles(t *testing.T) {
	r, full := newSite(t), &noNotes{}
	r.jobs = func(own jobCache) jobCache { full.jobCache = own; return full }
	r.start()
	r.accept("m1", "minion")
	m := r.minion("m1")
	publish := func() string {
		t.Helper()
		reply, _ := r.ask(clearEnvelope(r.publishLoad(payload.M("tgt", "m*"))).Set("brine_no_files",
			true)).(*payload.Map)
		return reply.Map("load").Str("jid")
	}
	jid := publish()
	m.ask(ret("m1", jid))
	equal(t, "return", r.stored(jid).Len(), 1)
	load, err := r.m.stores.jobs.Load(jid)
	if err != nil || load.Str("tgt") != "m*" || load.Has("key") {
		t.Errorf("load: %v, %v", load, err)
	}
	if found, err := filepath.Glob(filepath.Join(r.cfg.CacheDir, "jobs", "*", "*")); err != nil || len(found) > 0 {
		t.Errorf("there are files of jobs: %v, %v", found, err)
	}
	full.refuses.Store(true)
	r.jobDir(publish()) // files, where it cannot be noted
}

// noNotes is a job cache that cannot note jobs from a moment on.
type noNotes struct {
	jobCache
	refuses atomic.Bool
}

func (n *noNotes) Note(l jobstore.Load) error {
	if n.refuses.Load() {
		return errors.New("no room")
	}
	return n.jobCache.Note(l)
}

// jobDir is where Salt's tools look for a job.
func (r *rig) jobDir(jid string) string {
	r.t.Helper()
	found, err := filepath.Glob(filepath.Join(r.cfg.CacheDir, "jobs", "*", "*", "jid"))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, f := range found {
		if r.read(f) == jid {
			return filepath.Dir(f)
		}
	}
	r.t.Fatalf("no directory of job %s", jid)
	return ""
}

// TestPublication is what minions get, field by field.
func TestPublication(t *testing.T) {
	r := newRig(t)
	r.accept("m1", "minion")
	ear := r.hear()
	jid := r.publish(payload.M("tgt", []any{"m1", "m1", "zz"}, "tgt_type", "list", "fun",
		[]any{"test.ping", "test.echo"}, "arg", []any{[]any{}, []any{1}}, "ret", "redis", "jid", "20210101000000000001",
		"to", 7, "kwargs", payload.M("ret_config", "c", "metadata", payload.M("a", 1), "module_executors",
			[]any{"direct_call"}, "executor_opts", payload.M("x", 1), "ret_kwargs", payload.M("y", 2), "delimiter", "|",
			"id", "m7", "master_id", "top", "start_event", true, "batch", "5%")))
	equal(t, "given jid", jid, "20210101000000000001")
	data := ear.await("salt/job/" + jid + "/publish")
	data.Delete("_stamp")
	equal(t, "publication", data, payload.M("fun", []any{"test.ping", "test.echo"}, "arg", []any{[]any{}, []any{1}},
		"tgt", []any{"m1", "m1", "zz"}, "jid", jid, "ret", "redis", "master_id", "top", "delimiter", "|", "id", "m7",
		"tgt_type", "list", "to", 7, "ret_config", "c", "metadata", payload.M("a", 1), "module_executors",
		[]any{"direct_call"}, "executor_opts", payload.M("x", 1), "ret_kwargs", payload.M("y", 2), "start_event", true,
		"user", userName()))
	reply := r.clear(r.publishLoad(payload.M("tgt", []any{"m1", "m1", "zz"}, "tgt_type", "list"))).(*payload.Map).Map(
		"load")
	equal(t, "minions", reply.Value("minions"), []any{"m1"})
	equal(t, "missing", reply.Value("missing"), []any{"zz"})
}

var (
	authenticationError = payload.M("error", payload.M("name", "AuthenticationError", "message",
		"Authentication error occurred."))
	authorizationError = payload.M("error", payload.M("name", "AuthorizationError", "message",
		"Authorization error occurred."))
)

func noMatch(tgt string) *payload.Map {
	return payload.M("enc", "clear", "load", payload.M("jid", nil, "minions", []any{}, "error",
		"Master could not resolve minions for target "+tgt))
}

// TestPublishRefusals: the order of the checks shows in which of two faults is told.
func TestPublishRefusals(t *testing.T) {
	r := newRig(t, "publisher_acl_blacklist: {users: ['bad.*'], modules: ['cmd.*']}",
		"publisher_acl: {ada: ['test.*']}", "client_acl_verify: false",
		"external_auth: {auto: {tester: ['test.*', {'m2': ['net.run']}, {'m*': [{'x.y': {args: ['^a$']}}]}]}}")
	r.accept("m1", "minion")
	r.accept("m2", "minion")
	ada := r.read(filepath.Join(r.cfg.CacheDir, ".ada_key"))
	token := r.clear(cmd("mk_token", "username", "tester", "password", "x", "eauth", "auto")).(*payload.Map).Str(
		"token")
	tok := func(kv ...any) *payload.Map {
		m := payload.M("kwargs", payload.M("token", token))
		m.Update(payload.M(kv...))
		return m
	}
	ok := "ok"
	for _, tt := range []struct {
		name string
		load *payload.Map
		want any
	}{
		{"ok", payload.NewMap(0), ok},
		{"wrong key", payload.M("key", "x"), authenticationError},
		{"no key", payload.M("key", nil), authenticationError},
		{"key a number", payload.M("key", 5), authenticationError},
		{"nobody matches", payload.M("tgt", "zz"), noMatch("zz")},
		{"nobody matches, and wrong key", payload.M("tgt", "zz", "key", "x"), authenticationError},
		{"list of nobody", payload.M("tgt", []any{"y", "z"}, "tgt_type", "list"), noMatch("['y', 'z']")},
		{"unknown target type", payload.M("tgt_type", "zodiac"), noMatch("*")},
		{"blacklisted user", payload.M("user", "badman"), authorizationError},
		{"blacklisted function", payload.M("fun", "cmd.run"), authorizationError},
		{"one of two blacklisted", payload.M("fun", []any{"test.ping", "cmd.run"}, "arg", []any{[]any{}, []any{}}),
			authorizationError},
		{"blacklisted, and wrong key", payload.M("fun", "cmd.run", "key", "x"), authenticationError},
		{"key of root for anybody", payload.M("user", "eve"), ok},
		{"sudo", payload.M("user", "sudo_eve"), ok},
		{"own key within the list", payload.M("user", "ada", "key", ada), ok},
		{"own key beyond the list", payload.M("user", "ada", "key", ada, "fun", "state.apply"), authorizationError},
		{"key of ada as root", payload.M("user", "root", "key", ada), authenticationError},
		{"key of ada for eve", payload.M("user", "eve", "key", ada), authenticationError},
		{"key of ada under sudo", payload.M("user", "sudo_eve", "key", ada), authenticationError},
		{"find_job for ada", payload.M("user", "ada", "key", ada, "fun", "saltutil.find_job", "arg", []any{someJID}),
			ok},
		{"auth_list of ada counts for nothing", payload.M("user", "ada", "key", ada, "fun", "state.apply", "kwargs",
			payload.M("auth_list", []any{".*"})), authorizationError},
		{"auth_list of a syndic", payload.M("fun", "state.apply", "kwargs", payload.M("auth_list", []any{"test.*"})),
			authorizationError},
		{"token", tok(), ok},
		{"token beyond its list", tok("fun", "state.apply"), authorizationError},
		{"token for a target", tok("fun", "net.run", "tgt", "m2"), ok},
		{"token beyond its target", tok("fun", "net.run", "tgt", "*"), authorizationError},
		{"token with arguments", tok("fun", "x.y", "arg", []any{"a"}), ok},
		{"token with other arguments", tok("fun", "x.y", "arg", []any{"b"}), authorizationError},
		{"token for one of two functions", tok("fun", []any{"test.ping", "state.apply"}, "arg",
			[]any{[]any{}, []any{}}), authorizationError},
		{"token, nobody matches", tok("tgt", "zz"), noMatch("zz")},
		{"unknown token", payload.M("kwargs", payload.M("token", "abcd")), authenticationError},
		{"eauth", payload.M("kwargs", payload.M("eauth", "auto", "username", "tester", "password", "x")), ok},
		{"eauth of a stranger", payload.M("kwargs", payload.M("eauth", "auto", "username", "zz", "password", "x")),
			authorizationError},
		{"eauth that is not enabled", payload.M("kwargs", payload.M("eauth", "pam", "username", "tester", "password",
			"x")), authenticationError},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := r.clear(r.publishLoad(tt.load))
			if tt.want != any(ok) {
				equal(t, "reply", got, tt.want)
			} else if m, _ := got.(*payload.Map); !payload.IsJID(m.Map("load").Str("jid")) {
				t.Errorf("got %s", text(got))
			}
		})
	}
	for _, field := range []string{"user", "fun", "tgt", "arg", "ret", "tgt_type"} {
		load := r.publishLoad(payload.NewMap(0))
		load.Delete(field)
		equal(t, "without "+field, r.clear(load), handlerFailed)
	}
}

// TestPublishErrorEvents: that a user may not publish a job is told on the bus, without what was secret in it. A
// stranger makes no events.
func TestPublishErrorEvents(t *testing.T) {
	r := newRig(t, "external_auth: {auto: {tester: ['test.*']}}")
	r.accept("m1", "minion")
	ear := r.hear()
	secret := "Sup3rS3cret"
	for _, load := range []*payload.Map{
		payload.M("key", secret), payload.M("key", secret, "jid", someJID),
		payload.M("kwargs", payload.M("token", secret), "jid", someJID),
		payload.M("password", secret, "token", secret, "kwargs", payload.M("eauth", "pam", "username", "tester",
			"password", secret)),
	} {
		equal(t, "reply", r.clear(r.publishLoad(load)), authenticationError)
	}
	denied := r.publishLoad(payload.M("kwargs", payload.M("eauth", "auto", "username", "tester", "password", secret),
		"fun", "cmd.run"))
	equal(t, "reply", r.clear(denied), authorizationError)
	withoutJID := r.publishLoad(payload.M("kwargs", payload.M("eauth", "auto", "username", "tester", "password",
		secret), "fun", "cmd.run"))
	withoutJID.Delete("jid")
	equal(t, "reply", r.clear(withoutJID), authorizationError)
	r.m.Fire("test/end", payload.NewMap(0))
	if seen := ear.until("test/end"); !slices.Equal(seen, []string{"salt/job/error"}) {
		t.Errorf("got events %q", seen)
	}
	if log := strings.Join(r.log.Lines(), "\n"); strings.Contains(log, secret) || strings.Contains(log, r.rootKey()) {
		t.Error("the log tells a secret")
	}
	r.clear(denied.Set("jid", someJID))
	data := ear.await("salt/job/" + someJID + "/error")
	equal(t, "error", data.Value("error"), authorizationError.Value("error"))
	equal(t, "fun", data.Value("fun"), "cmd.run")
	if all := text(data); strings.Contains(all, secret) || strings.Contains(all, r.rootKey()) {
		t.Errorf("the event tells a secret: %s", all)
	}
}

// TestPublishNamesUser: the user of a token or of external authentication is the user of the job.
func TestPublishNamesUser(t *testing.T) {
	r := newRig(t, "external_auth: {auto: {tester: ['test.*']}}")
	r.accept("m1", "minion")
	ear := r.hear()
	jid := r.publish(payload.M("user", "root", "kwargs", payload.M("eauth", "auto", "username", "tester", "password",
		"pw")))
	equal(t, "user", ear.await("salt/job/"+jid+"/publish").Value("user"), "tester")
	load, err := payload.UnmarshalMap([]byte(r.read(filepath.Join(r.jobDir(jid), ".load.p"))))
	if err != nil || strings.Contains(text(load), "pw") {
		t.Errorf("stored load: %s, %v", text(load), err)
	}
}

func TestPublishOrderMasters(t *testing.T) {
	r := newRig(t, "order_masters: true", "publisher_acl: {ada: ['test.*']}", "client_acl_verify: false")
	ear := r.hear()
	jid := r.publish(payload.M("tgt", "below-a-syndic", "user", "ada", "key",
		r.read(filepath.Join(r.cfg.CacheDir, ".ada_key"))))
	equal(t, "auth_list", ear.await("salt/job/"+jid+"/publish").Value("auth_list"), []any{"test.*"})
}

func TestTokens(t *testing.T) {
	r := newRig(t, "external_auth: {auto: {tester: ['test.*']}}", "token_expire: 100")
	made := r.clear(cmd("mk_token", "username", "tester", "password", "x", "eauth", "auto")).(*payload.Map)
	equal(t, "keys", made.Keys(), []any{"start", "expire", "name", "eauth", "token"})
	equal(t, "get_token", r.clear(cmd("get_token", "token", made.Value("token"))), made)
	for _, tt := range []struct {
		name string
		load *payload.Map
		want any
	}{
		{"unknown", cmd("get_token", "token", "abcd"), payload.NewMap(0)},
		{"path", cmd("get_token", "token", "../../etc/passwd"), payload.NewMap(0)},
		{"number", cmd("get_token", "token", 5), payload.NewMap(0)},
		{"missing", cmd("get_token"), false},
		{"not enabled", cmd("mk_token", "username", "tester", "password", "x", "eauth", "pam"), ""},
		{"nothing", cmd("mk_token"), ""},
	} {
		equal(t, tt.name, r.clear(tt.load), tt.want)
	}
}

func TestWheel(t *testing.T) {
	r := newRig(t, "external_auth: {auto: {tester: ['@wheel'], mini: ['test.*']}}")
	if err := r.keyStore().Put(keys.Pending, "m5", strings.TrimSpace(r.rsa["minion"].Public)); err != nil {
		t.Fatal(err)
	}
	ear := r.hear()
	wheel := func(fun string, kv ...any) *payload.Map {
		load := cmd("wheel", "fun", fun, "key", r.rootKey(), "user", userName())
		load.Update(payload.M(kv...))
		m, _ := r.clear(load).(*payload.Map)
		return m
	}
	got := wheel("key.accept", "match", "m5")
	jid := strings.TrimPrefix(got.Str("tag"), "salt/wheel/")
	equal(t, "reply", got, payload.M("tag", "salt/wheel/"+jid, "data", payload.M("fun", "wheel.key.accept", "jid", jid,
		"tag", "salt/wheel/"+jid, "user", userName(), "return", payload.M("minions", []any{"m5"}), "success", true)))
	var tags []string
	for _, tag := range ear.until("salt/wheel/" + jid + "/ret") {
		tags = append(tags, strings.ReplaceAll(tag, jid, "J"))
	}
	if !slices.Equal(tags, []string{"salt/wheel/J/new", "salt/key"}) {
		t.Errorf("events %q", tags)
	}
	if !r.keyStore().Has(keys.Accepted, "m5") {
		t.Error("the key was not accepted")
	}
	bad := wheel("key.nosuch")
	equal(t, "unknown function", bad.Map("data").Value("success"), false)
	equal(t, "no argument", wheel("key.finger").Map("data").Value("success"), false)
	equal(t, "too many arguments, apart", wheel("key.finger", "arg", []any{"a", "b", "c"}, "kwarg",
		payload.NewMap(0)).Map("data").Value("success"), true)
	equal(t, "wrong key", wheel("key.list_all", "key", "x"),
		payload.M("error", payload.M("name", "UserAuthenticationError", "message",
			`Authentication failure of type "user" occurred`)))
	equal(t, "no dot", r.clear(cmd("wheel", "fun", "list", "eauth", "auto", "username", "tester", "password", "x")),
		payload.M("error", payload.M("name", "SaltInvocationError", "message",
			"A command invocation error occurred: Check syntax.")))
	equal(t, "not allowed", r.clear(cmd("wheel", "fun", "key.list_all", "eauth", "auto", "username", "mini", "password",
		"x")),
		payload.M("error", payload.M("name", "EauthAuthenticationError", "message",
			`Authentication failure of type "eauth" occurred for user mini.`)))
}

func TestRunner(t *testing.T) {
	r := newRig(t, "external_auth: {auto: {tester: ['@runner']}}")
	ear := r.hear()
	run := func(kv ...any) string {
		load := cmd("runner", "fun", "test.arg", "key", r.rootKey(), "user", userName())
		load.Update(payload.M(kv...))
		m, _ := r.clear(load).(*payload.Map)
		jid := m.Str("jid")
		equal(t, "reply", m, payload.M("tag", "salt/run/"+jid, "jid", jid))
		return jid
	}
	jid := run("kwarg", payload.M("arg", []any{"a"}, "kwarg", payload.M("k", 1)))
	data := ear.await("salt/run/" + jid + "/new")
	data.Delete("_stamp")
	equal(t, "new", data, payload.M("fun", "runner.test.arg", "jid", jid, "user", userName(), "fun_args",
		[]any{"a", payload.M("k", 1)}))
	data = ear.await("salt/run/" + jid + "/ret")
	data.Delete("_stamp")
	equal(t, "ret", data, payload.M("fun", "runner.test.arg", "jid", jid, "user", userName(), "fun_args",
		[]any{"a", payload.M("k", 1)}, "return", payload.M("args", []any{"a"}, "kwargs", payload.M("k", 1)), "success",
		true))
	r.eventually("the run in the job store", func() error {
		if got := r.stored(jid).Map("testmaster"); !got.Has("return") {
			return fmt.Errorf("stored: %v", got)
		}
		return nil
	})
	jid = run("fun", "nope.nope", "kwarg", payload.NewMap(0))
	equal(t, "unknown function", ear.await("salt/run/"+jid+"/ret").Value("success"), false)
	equal(t, "token", r.clear(cmd("runner", "fun", "test.arg", "token", "dead")),
		payload.M("error", payload.M("name", "TokenAuthenticationError", "message",
			`Authentication failure of type "token" occurred.`)))
	r.eventually("the end of the run", func() error { // which is not before its last event
		if child, ok := r.m.Supervisor().Lookup("Runner-" + jid); ok {
			return fmt.Errorf("%s is still there", child.Path())
		}
		return nil
	})
}
