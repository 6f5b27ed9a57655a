package config

import (
	"fmt"
	"strings"
	"testing"
)

// spellings are the notations of a password in a text; %s is the password.
var spellings = []string{
	// ADO, ODBC, OLE DB, JDBC
	"Server=db;Database=x;User Id=sa;Pwd=%s", "Driver={SQL Server};Server=db;UID=sa;PWD={%s};Encrypt=yes",
	"server=db;pwd = %s ;x=1", "Data Source=db;Password=\"%s\";x=1", "Provider=x;Password='%s';x=1",
	"jdbc:sqlserver://db:1433;user=sa;password=%s;encrypt=true", "jdbc:mysql://db/x?user=u&password=%s&useSSL=false",
	"jdbc:postgresql://db/x?user=u&PASSWORD=%s", "DSN=x;UID=u;PWD=%s;",
	"DefaultEndpointsProtocol=https;AccountName=a;AccountKey=%s;EndpointSuffix=x",
	"Endpoint=sb://x/;SharedAccessKeyName=n;SharedAccessKey=%s",
	// DSNs
	"host=db user=u password=%s dbname=x", "host=db passwd='%s' user=u", "u:%s@tcp(db:3306)/x",
	"u:%s@unix(/run/mysql.sock)/x", "scott/%s@//db:1521/xe", "scott/%s@db:1521/xe", "u:%s@db.example.com:5432",
	// addresses
	"mongodb+srv://u:%s@a,b/x?w=1", "amqp://u:%s@h:5672/", "redis://:%s@h", "postgres://u:%s@h/x",
	"https://u:%s@h/a?b=c@d", "https://h/x?token=%s", "https://h/?a=1&api_key=%s&b=2", "https://h/?apikey=%s",
	"https://h/?access_token=%s#x", "https://h/?key=%s", "https://h/?sig=%s&se=1", "https://h/?X-Amz-Signature=%s",
	"https://h/?X-Amz-Credential=%s&x=1", "https://h/?X-Amz-Security-Token=%s", "https://h/?pwd=%s",
	"next=%%2F%%3Fpassword%%3D%s",
	// headers
	"Authorization: Bearer %s", "authorization: Basic %s==", "Proxy-Authorization: Negotiate %s",
	"Authorization: Digest username=\"\", response=%s", "Authorization: %s", "'Authorization': 'Token %s'",
	"{\"Authorization\": \"Bearer %s\"}", "Cookie: a=b; session_id=%s", "Set-Cookie: session_id=%s; Path=/",
	"X-Auth-Token: %s", "X-Vault-Token: %s", "PRIVATE-TOKEN: %s", "X-Api-Key: %s", "X-Amz-Security-Token: %s",
	// pairs of name and value
	"pass: %s", "pass=%s", "db_pass = %s", "bindpw: %s", "rootpw %%s=x rootpw=%s", "userPwd: '%s'",
	"{'password': u'%s'}", "{\"password\":\"%s\"}", "{\\\"password\\\":\\\"%s\\\"}", ":password => '%s'",
	"password := \"%s\"", "PGPASSWORD=%s psql", "wpa_psk=%s", "client_secret: %s", "aws_secret_access_key = %s",
	"<password>%s</password>", "<db:Password enc=\"no\">%s</db:Password>", "private_key=%s", "passphrase: \"%s\"",
	// words
	"curl -u me:%s x", "mysql -u root -p%s db", "sshpass -p %s ssh h", "tool --password %s", "tool --password=%s",
	"tool --token %s", "machine h login u password %s", "CREATE USER u IDENTIFIED BY '%s'", "requirepass %s",
	"masterauth %s",
}

// TestMaskText: a password is masked in any notation, alone in a line and among other text, whatever characters it has.
func TestMaskText(t *testing.T) {
	for _, form := range spellings {
		for _, secret := range []string{"hunter2hunter2", "Hunter2,3%%", "hunter2hunter2hunter2.x_y-z~"} {
			secret = strings.ReplaceAll(secret, "%%", "%")
			text := fmt.Sprintf(strings.ReplaceAll(form, "%%s", "x"), secret)
			for _, all := range []string{text, "dial: " + text + ": refused", "first line\n" + text + "\nthird line",
				strings.ToUpper(text), strings.ToLower(text)} {
				if strings.Contains(form, " -") && all == strings.ToUpper(text) {
					continue // options of programs are case-sensitive
				}
				if got := MaskText(all); strings.Contains(strings.ToLower(got), "unter2") ||
					!strings.Contains(got, Masked) {
					t.Errorf("%q: %q", all, got)
				}
			}
		}
	}
}

// TestMaskTextQuoted: a quoted value is masked to its end.
func TestMaskTextQuoted(t *testing.T) {
	for text, want := range map[string]string{
		`Server=db;PWD={hun;ter}}2};Encrypt=yes`:          `Server=db;PWD=(masked);Encrypt=yes`,
		`Server=db;Pwd=hun ter 2, and more;Encrypt=yes`:   `Server=db;Pwd=(masked);Encrypt=yes`,
		`Server=db;Password="hun""ter;2";Encrypt=yes`:     `Server=db;Password=(masked);Encrypt=yes`,
		`host=db password='hun\'ter 2' user=x`:            `host=db password=(masked) user=x`,
		`{"password": "hun\"ter 2", "user": "x"}`:         `{"password": (masked), "user": "x"}`,
		`postgres://u:hun/ter2@h/x`:                       `postgres://u:(masked)@h/x`,
		`GRANT x TO u IDENTIFIED BY 'hun''ter 2' WITH y`:  `GRANT x TO u IDENTIFIED BY (masked) WITH y`,
		"Cookie: a=hunter; b=hunter2\nHost: x":            "Cookie: (masked)\nHost: x",
		"see eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeK here": "see (masked) here",
		"push with ghp_0123456789abcdefghij failed":       "push with (masked) failed",
	} {
		if got := MaskText(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestMaskTextLeaves: ordinary texts stay unchanged.
func TestMaskTextLeaves(t *testing.T) {
	for _, text := range []string{
		"", "User root Published command test.ping with jid 20261125224609376131",
		"Got return from web1 for job 20261125224609376131",
		"the key of web1 is accepted", "Authentication failure of type \"token\" occurred.",
		"http://host:8080/path?mail=a@b", "ssh://git@host/repo.git", "git@host:team/repo.git",
		"nginx:1.25@sha256:0a1b2c3d4e5f", "actions/checkout@v4", "G@os:Debian and not E@web.*",
		"/etc/salt/pki/master/minions/web1", "token_expire", "salt/auth", "2026-11-26T02:00:00.000000+00:00",
		"10.0.0.1:4505", "[2001:db8::1]:4506", "tcp://127.0.0.1:4506", "No permission -- see authorization schemes",
		"compare sig and code", "state.apply test=True",
	} {
		if got := MaskText(text); got != text {
			t.Errorf("%q: %q", text, got)
		}
	}
}
