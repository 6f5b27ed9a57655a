package config

import (
	"fmt"
	"strings"
	"testing"

	"brine/wire/payload"
)

// TestRedacted: every value whose key sounds like a secret is masked, at any place.
func TestRedacted(t *testing.T) {
	const secret = "hunter2hunter2"
	for _, key := range []string{
		"password", "Password", "git_pillar_password", "ssh_passwd", "key_pass", "cluster_secret", "sharedsecret",
		"api_key", "apiKey", "aws.secret_access_key", "AWS_SECRET_ACCESS_KEY", "auth_token", "token", "tokens",
		"credentials", "vault_creds", "private_key", "sshkey", "signing_key_pass", "passphrase", "http_auth", "auth",
		"Authorization", "x-api-key", "pin", "wifi_psk", "session_cookie", "client_jwt", "slack_webhook", "db_pass",
		"dbpass", "auth.ldap.bindpw", "userPwd", "key", "keys", "pillar", "Pillar",
	} {
		for name, value := range map[string]any{"text": secret, "bytes": []byte(secret), "number": int64(424242),
			"list": []any{secret}, "map": payload.M("a", secret)} {
			for _, opts := range []*payload.Map{
				payload.M(key, value), payload.M("ext_pillar", []any{payload.M("mysql", payload.M(key, value))}),
				payload.M("deep", payload.M("er", []any{[]any{payload.M(key, value)}})),
			} {
				if text := fmt.Sprint(flat(Redacted(opts))); strings.Contains(text, "hunter2") ||
					strings.Contains(text, "424242") || !strings.Contains(text, Masked) {
					t.Errorf("%s: a %s is told: %s", key, name, text)
				}
			}
		}
	}
}

// TestSecretOptions lists the options with secrets, at any depth, and no options without them.
func TestSecretOptions(t *testing.T) {
	opts := payload.M("zoo", "http://u:hunter2@h/", "mysql", payload.M("host", "h", "pass", int64(5)), "interface",
		"::", "sign_pub_messages", true, "key_pass", nil,
		"api_key", "x", "ext_pillar", []any{payload.M("http_json", payload.M("url", "https://h/?token=hunter2"))},
		"publish_port", int64(4505))
	if got := fmt.Sprint(SecretOptions(opts)); got != "[api_key ext_pillar mysql zoo]" {
		t.Errorf("got %s", got)
	}
}

// flat turns maps into a form that fmt prints.
func flat(v any) any {
	switch x := v.(type) {
	case *payload.Map:
		out := map[any]any{}
		for k, e := range x.All() {
			out[k] = flat(e)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = flat(e)
		}
		return out
	}
	return v
}

// TestRedactedTexts: secrets inside texts are masked, and the text around them stays.
func TestRedactedTexts(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"https://git@host/repo.git", "https://git@host/repo.git"},
		{"https://me:s3cret@host/repo.git", "https://me:(masked)@host/repo.git"},
		{"https://me:s3@cret@host/repo.git", "https://me:(masked)@host/repo.git"},
		{"main https://ghp_0123456789abcdef@host/repo.git", "main https://(masked)@host/repo.git"},
		{"https://ghp_0123456789abcdef:x-oauth-basic@host/repo.git", "https://(masked):(masked)@host/repo.git"},
		{"http://a.long.name.of.a.host:8080/path?mail=a@b", "http://a.long.name.of.a.host:8080/path?mail=a@b"},
		{"redis://:s3cret@host:6379/0", "redis://:(masked)@host:6379/0"},
		{"http://host:8080/path", "http://host:8080/path"},
		{"Authorization: Bearer abcdef.123456", "Authorization: Bearer (masked)"},
		{"mysql -u root --password=s3cret db", "mysql -u root --password=(masked) db"},
		{"tool --token s3cret -v", "tool --token (masked) -v"},
		{"host=db password='s3 cret' user=x", "host=db password=(masked) user=x"},
		{"before\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nafter",
			"before\n(masked)\nafter"},
		{"-----BEGIN PRIVATE KEY-----\nMIIE", "(masked)"},
		{"curl -s -u me:s3cret https://host", "curl -s -u me:(masked) https://host"},
		{"curl --user 'me:s3cret' x", "curl --user 'me:(masked)' x"},
		{"curl -ume:s3cret x", "curl -ume:(masked) x"},
		{"docker run -u 0 img:tag", "docker run -u 0 img:tag"},
		{"mysqldump -u root -ps3cret db", "mysqldump -u root -p(masked) db"},
		{"mysql -u root -p -e x", "mysql -u root -p -e x"},
		{"sshpass -p s3cret ssh host", "sshpass -p (masked) ssh host"},
		{"ps -p 7", "ps -p 7"},
		{"/var/cache/salt/master/tokens", "/var/cache/salt/master/tokens"},
		{"G@role:web and not web2", "G@role:web and not web2"},
	} {
		if got := Redacted(payload.M("x", tt.text)).Str("x"); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
		if got := Redacted(payload.M("x", []string{tt.text})).List("x")[0]; got != tt.want {
			t.Errorf("%q in a list: got %q", tt.text, got)
		}
	}
}

// TestRedactedLeaves: values that an operator needs stay, and the argument does not change.
func TestRedactedLeaves(t *testing.T) {
	for _, key := range []string{"keysize", "token_expire", "token_dir", "key_logfile", "external_auth", "auth_timeout",
		"auth_mode", "master_sign_key_name", "master_sign_pubkey", "keys.cache_driver", "keep_jobs_seconds",
		"hash_type", "user", "pillarenv", "git_pillar_branch", "monitor", "ssh_pubkey"} {
		if got := Redacted(payload.M(key, "value")).Str(key); got != "value" {
			t.Errorf("%s: got %q", key, got)
		}
	}
	for _, empty := range []any{nil, true, "", []any{}} {
		if got := Redacted(payload.M("password", empty)).Value("password"); fmt.Sprint(got) != fmt.Sprint(empty) {
			t.Errorf("password %v: got %v", empty, got)
		}
	}
	opts := payload.M("a", payload.M("password", "x"))
	Redacted(opts)
	if opts.Map("a").Str("password") != "x" {
		t.Error("the options were changed")
	}
	m := loadMaster(t)
	if n := Redacted(m.Raw).Len(); n != m.Raw.Len() || n < 300 {
		t.Errorf("%d of %d options", n, m.Raw.Len())
	}
}

// TestMasker: secret values of the options are masked in texts of others, anywhere.
func TestMasker(t *testing.T) {
	mask := Masker(payload.M("postgres.passwd", "Sesame", "mysql", payload.M("pass", "Sesame open", "host", "db1"),
		"redis.password", "abc", "etcd", []any{payload.M("token", "T0ken")}))
	for text, want := range map[string]string{
		"user salt with Sesame open at db1": "user salt with " + Masked + " at db1",
		"(Sesame) T0ken":                    "(" + Masked + ") " + Masked,
		"abc":                               "abc",
		"dial pg://salt:xyz@db1/":           "dial pg://salt:" + Masked + "@db1/",
	} {
		if got := mask(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestRedactedNotices: a notice about an option of the wrong type contains no secrets.
func TestRedactedNotices(t *testing.T) {
	m := loadMaster(t, "master", "gitfs_remotes: https://me:hunter2@host/repo.git\n")
	if text := fmt.Sprint(m.Notices); strings.Contains(text, "hunter2") || !strings.Contains(text, Masked) {
		t.Errorf("got %s", text)
	}
}
