package attack

import (
	"slices"
	"strings"
	"testing"

	"brine/wire/payload"
)

// TestStrangerMethods tries names of methods in Salt's master that no client may call.
func TestStrangerMethods(t *testing.T) {
	s := newSite(t, "")
	p := s.stranger()
	for _, cmd := range []string{"_prep_auth_info", "_send_pub", "_prep_jid", "_auth_impl", "__init__", "__class__",
		"destroy", "connect", "run_func", "get_method", "_return", "_minion_event", "_pillar", "_serve_file",
		"mine_get", "publish_batch", ""} {
		v, err := p.ask(payload.M("cmd", cmd, "load", payload.M("fun", "test.ping"), "fun", "test.ping", "tgt", "*",
			"arg", []any{}, "id", honest))
		if err != nil {
			t.Errorf("%q: %v", cmd, err)
			continue
		}
		if m, ok := v.(*payload.Map); ok && m.Len() > 0 {
			t.Errorf("%q: a stranger gets %v", cmd, m)
		}
	}
	s.good()
}

// clearNames and sealedNames are all commands that a 3008 master answers, for tools and for minions.
var (
	clearNames = []string{payload.CmdPublish, payload.CmdGetToken, payload.CmdMkToken, payload.CmdWheel,
		payload.CmdRunner}
	sealedNames = []string{payload.CmdReturn, payload.CmdSyndicReturn, payload.CmdMinionEvent,
		payload.CmdHandleMinionEvent, payload.CmdPillar, payload.CmdRegisterResources, payload.CmdMine,
		payload.CmdMineGet, payload.CmdMineDelete, payload.CmdMineFlush, payload.CmdFileRecv, payload.CmdFileEnvs,
		payload.CmdFileList, payload.CmdFileListEmptyDirs, payload.CmdDirList, payload.CmdSymlinkList,
		payload.CmdFileFind, payload.CmdFileHash, payload.CmdFileHashAndStat, payload.CmdServeFile,
		payload.CmdMasterOpts, payload.CmdMasterTops, payload.CmdExtNodes, payload.CmdMinionRunner,
		payload.CmdMinionPub, payload.CmdMinionPublish, payload.CmdPubRet, payload.CmdRevokeAuth,
		payload.CmdVerifyMinion,
		payload.CmdBrineFacts}
	hiddenNames = []string{"__init__", "__class__", "__dict__", "run_func", "get_method", "_handle_clear",
		"_handle_aes", "_handle_payload", "_auth", "_auth_impl", "_prep_auth_info", "_prep_jid", "_prep_pub",
		"_send_pub", "_send_ssh_pub", "_sync_wheel", "_sync_runner", "destroy", "connect", "cache_cli",
		"_AESFuncs__verify_minion", "_AESFuncs__verify_load", "_AESFuncs__setup_fileserver", "_serve_file ", "PUBLISH",
		"Wheel", "publish\x00", "wheel.key.list_all", "minion_publish_", "publish_batch", "pub", "ping ", "get_key",
		"_mine_all", "_prep_auth", "\x00"}
)

// everything is a load with all fields that any method could need.
func everything(cmd any, id string) *payload.Map {
	return payload.M("cmd", cmd, "id", id, "fun", "key.list_all", "tgt", "*", "tgt_type", "glob", "arg", []any{}, "ret",
		"", "jid", "20200101000000000000", "user", "root", "key", "", "kwarg", payload.NewMap(0), "kwargs",
		payload.NewMap(0), "tok", "", "return", true, "data", payload.M("a", "b"), "tag", "x", "load",
		payload.M("fun", "test.ping"), "path", "/etc/passwd", "saltenv", "base", "loc", int64(0), "grains",
		payload.NewMap(0), "ver", "2", "eauth", "x", "username", "root")
}

// bare is a load without any credentials.
func bare(cmd any, id string) *payload.Map {
	load := everything(cmd, id)
	for _, k := range []string{"eauth", "username", "key", "tok"} {
		load.Delete(k)
	}
	return load
}

// says tells whether an answer contains more than a refusal: keys, a job, a token, a result.
func says(v any) bool {
	m, ok := v.(*payload.Map)
	if !ok {
		return false
	}
	return m.Has("jid") || m.Has("tag") || m.Has("token") || m.Has("data") || m.Map("load").Str("jid") != ""
}

// TestExposedInClear calls every command without encryption and without credentials.
func TestExposedInClear(t *testing.T) {
	s := newSite(t, "external_auth: {sharedsecret: {ann: ['.*', '@wheel', '@runner']}}\n")
	jobs, p := s.listen(), s.stranger()
	for _, cmd := range slices.Concat(clearNames, sealedNames, hiddenNames) {
		for _, load := range []*payload.Map{everything(cmd, honest), bare(cmd, honest), bare(cmd, "")} {
			v, err := p.ask(load)
			if err != nil {
				t.Fatalf("%q: %v", cmd, err)
			}
			if says(v) {
				t.Errorf("%q: a stranger gets %v", cmd, v)
			}
		}
	}
	for _, cmd := range []any{nil, int64(1), true, []any{"publish"}, payload.M("publish", 1), []byte("publish"), 1.5} {
		if v, err := p.ask(bare(cmd, honest)); err != nil || says(v) {
			t.Errorf("%v: %v, %v", cmd, v, err)
		}
	}
	s.quiet(jobs)
}

// TestExposedSealed calls every command as a minion. Commands for tools do not exist for a minion.
func TestExposedSealed(t *testing.T) {
	s := newSite(t, "external_auth: {sharedsecret: {ann: ['.*', '@wheel', '@runner']}}\npeer: {}\n")
	jobs, th := s.listen(), s.thief("thief", nil)
	mayNot := slices.Concat(clearNames, hiddenNames, []string{payload.CmdMinionPub, payload.CmdMinionPublish,
		payload.CmdMinionRunner, payload.CmdVerifyMinion, payload.CmdPubRet})
	for _, cmd := range mayNot {
		v, err := th.doWithin(second(), everything(cmd, "thief"))
		if err == nil && says(v) {
			t.Errorf("%q: a minion gets %v", cmd, v)
		}
	}
	s.quiet(jobs)
}

// quiet checks that no job, runner or wheel function has begun except those of good, and that good succeeds.
func (s *site) quiet(e *ear) {
	s.t.Helper()
	s.good()
	for _, h := range e.all() {
		job := strings.HasPrefix(h.tag, "salt/job/") && strings.HasSuffix(h.tag, "/new") &&
			h.data.Str("fun") != "test.ping" && h.data.Str("fun") != "saltutil.find_job"
		if job || strings.HasPrefix(h.tag, "salt/run/") || strings.HasPrefix(h.tag, "salt/wheel/") ||
			strings.HasPrefix(h.tag, "salt/key") {
			s.t.Errorf("%s: %v", h.tag, h.data)
		}
	}
}
