package attack

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"brine/wire/client"
	"brine/wire/payload"
)

// secretOptions are options of a master with a secret in each place where users of returners, repositories,
// external pillars and engines put secrets. Their servers do not exist, so all report errors. PORT is a port
// without a listener.
const secretOptions = `log_level: trace
log_level_logfile: trace
event_return: [postgres, pgjsonb, mysql, smtp, slack_webhook, elasticsearch]
master_job_cache: redis
returner.postgres: {host: 127.0.0.1, port: PORT, user: salt, passwd: Hidden-postgres, db: salt}
returner.pgjsonb.host: 127.0.0.1
returner.pgjsonb.port: PORT
returner.pgjsonb.pass: Hidden-pgjsonb
mysql: {host: 127.0.0.1, port: PORT, user: salt, pass: Hidden-mysql, db: salt}
redis.host: 127.0.0.1
redis.port: PORT
redis.password: Hidden-redis
smtp: {host: 127.0.0.1, port: PORT, from: a@b.c, to: a@b.c, tls: True, username: mailer, password: Hidden-smtp, subject: x, fields: id}
slack_webhook: {webhook: T1/B1/Hidden-slack, author_icon: x}
proxy_host: 127.0.0.1
proxy_port: PORT
proxy_username: proxy
proxy_password: Hidden-proxy
etcd.host: 127.0.0.1
etcd.port: PORT
etcd.username: root
etcd.password: Hidden-etcd
elasticsearch: {hosts: ['http://elastic:Hidden-elastic@127.0.0.1:PORT']}
fileserver_backend: [git, roots]
gitfs_insecure_auth: True
gitfs_remotes:
  - https://git:Hidden-gitfsurl@127.0.0.1:PORT/one.git
  - https://Hidden-gitfstoken@127.0.0.1:PORT/two.git
  - http://127.0.0.1:PORT/three.git: [{user: git}, {password: Hidden-gitfsopt}]
postgres: {host: 127.0.0.1, port: PORT, user: salt, pass: Hidden-pgpillar, db: salt}
ext_pillar:
  - git:
    - main https://git:Hidden-gitpillar@127.0.0.1:PORT/four.git
    - main https://Hidden-pillartoken@127.0.0.1:PORT/five.git
    - main http://127.0.0.1:PORT/six.git: [{user: git}, {password: Hidden-pillaropt}, {insecure_auth: True}]
  - http_json: {url: 'http://api:Hidden-httpurl@127.0.0.1:PORT/%s?token=Hidden-httpquery'}
  - http_yaml: {url: 'http://127.0.0.1:PORT/%s', username: api, password: Hidden-httpopt, header_dict: {X-Auth-Token: Hidden-header}}
  - postgres: ['SELECT 1']
  - redis: {function: key_json}
engines:
  - http_logstash: {url: 'http://log:Hidden-logstash@127.0.0.1:PORT/?token=Hidden-logquery'}
  - door: {program: [/bin/cat, /dev/null], app_token: Hidden-door, env: {DOOR_TOKEN: Hidden-doorenv}}
external_auth: {sharedsecret: {ann: ['test.*'], bob: ['test.*', '@runner', '@jobs']}}
sharedsecret: OpenSesame
`

// TestSecretOptions lets returners, repositories, external pillars and engines fail because their servers do
// not exist. No secret of the configuration may be in logs, events, caches, the bundle, the output of brine
// config, argument lists, or answers to a minion or a limited user.
func TestSecretOptions(t *testing.T) {
	t.Parallel() // it mostly waits
	s := newBareSite(t, "")
	s.master.stop()
	conf := strings.ReplaceAll(secretOptions, "PORT", fmt.Sprint(s.port()))
	s.writeMaster(conf)
	s.startMaster()
	bus := s.listen()
	mine := conf[strings.Index(conf, "returner.postgres"):strings.Index(conf, "fileserver_backend")]
	s.startMinion(honest, "log_level: trace\nlog_level_logfile: trace\n"+mine)
	secrets := hiddenIn(conf)
	if len(secrets) != 24 {
		t.Fatalf("%d secrets are configured: %q", len(secrets), secrets)
	}
	show := func(name string, args ...string) {
		t.Helper()
		r := s.tool(name, args...)
		if len(r.stdout+r.stderr) == 0 {
			t.Errorf("%s %q says nothing", name, args)
		}
		lookFor(t, fmt.Sprintf("what %s %q shows", name, args), []byte(r.stdout+r.stderr), secrets)
	}
	for _, ret := range []string{"postgres", "pgjsonb", "mysql", "redis", "smtp", "slack_webhook", "etcd",
		"elasticsearch"} {
		if got, err := s.run(patience, client.Job{Tgt: honest, Fun: "test.ping", Ret: ret}); err != nil ||
			got[honest] == nil {
			t.Errorf("--return %s: %v, %v", ret, got, err)
		}
	}
	show("salt-run", "fileserver.update")
	show("salt-run", "git_pillar.update")
	show("salt-run", "pillar.show_pillar", honest)
	show("salt", honest, "pillar.items")
	show("salt", honest, "saltutil.refresh_pillar")
	show("salt-run", "jobs.list_jobs")
	show("brine", "tree")
	show("brine", "history")
	show("brine", "config", "dump", "--origin", "-c", s.path("etc/m"))
	show("brine", "config", "check", "-c", s.path("etc/m"))
	for _, key := range []string{"gitfs_remotes", "ext_pillar", "engines", "elasticsearch", "mysql", "redis.password",
		"slack_webhook"} {
		show("brine", "config", "get", key, "-c", s.path("etc/m"))
	}
	th := s.thief("thief", nil)
	for _, load := range []*payload.Map{payload.M("cmd", payload.CmdMasterOpts), payload.M("cmd", payload.CmdPillar,
		"grains", payload.M("id", "thief"), "saltenv", "base", "ver", "2"), payload.M("cmd", payload.CmdFileEnvs),
		payload.M("cmd", payload.CmdMasterTops, "opts", payload.M("id", "thief"), "grains", payload.NewMap(0))} {
		v, err := th.do(load.Set("id", "thief"))
		lookFor(t, "what a minion is answered to "+load.Str("cmd"), fmt.Append(nil, v, err), secrets)
	}
	for _, user := range []string{"ann", "bob"} {
		for _, fun := range []string{"config.values", "config.get", "git_pillar.update", "fileserver.update",
			"saltutil.sync_all", "pillar.show_pillar", "config.apply"} {
			for _, cmd := range []string{payload.CmdRunner, payload.CmdWheel} {
				v, err := s.stranger().ask(as(user, payload.M("cmd", cmd, "fun", fun, "kwarg", payload.NewMap(0))))
				lookFor(t, fmt.Sprintf("what %s is answered to %s %s", user, cmd, fun), fmt.Append(nil, v, err),
					secrets)
			}
		}
	}
	bundle := s.path("bundle.tgz")
	s.tool("brine", "bundle", bundle)
	s.good()
	lookFor(t, "the bundle", unzipped(t, bundle), secrets)
	for _, h := range bus.all() {
		lookFor(t, "event "+h.tag, fmt.Append(nil, h.data), secrets)
	}
	for _, f := range s.files(".") {
		if !keepsSecrets(s, f) && f != bundle {
			lookFor(t, strings.TrimPrefix(f, s.root), []byte(readText(t, f)), secrets)
		}
	}
	for _, who := range []string{"postgres", "mysql", "redis", "smtp", "slack_webhook", "etcd", "elasticsearch",
		"one.git", "four.git", "http query", "an event was not taken"} {
		if !strings.Contains(s.logOf(s.master)+s.logOf(s.minions[honest]), who) {
			t.Errorf("nothing is said of %s, so it did not fail", who)
		}
	}
	s.noArguments(secrets)
}

// hiddenIn are the secrets in a configuration, each once.
func hiddenIn(conf string) (all []string) {
	for _, part := range strings.Split(conf, "Hidden-")[1:] {
		end := strings.IndexFunc(part, func(r rune) bool { return r < 'a' || r > 'z' })
		if name := "Hidden-" + part[:end]; !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// noArguments searches for secrets in the argument lists of all processes of this machine.
func (s *site) noArguments(secrets []string) {
	s.t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range entries {
		args, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline") // it may have ended, or be no process
		for _, secret := range secrets {
			if strings.Contains(string(args), secret) {
				s.t.Errorf("the arguments of process %s hold %s", e.Name(), secret)
			}
		}
	}
}
