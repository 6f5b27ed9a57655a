package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func netapiOf(t *testing.T, text string) (*Netapi, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "master")
	if err := os.WriteFile(path, []byte("root_dir: /r\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := LoadMaster(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m.NetapiOptions()
}

// TestNetapiTakes: the options that a running salt-api takes, those that wait for its next start, and those that it
// ignores.
func TestNetapiTakes(t *testing.T) {
	for key, want := range map[string][2]bool{"netapi_enable_clients": {true, false}, "external_auth": {true, false},
		"log_level": {true, false}, "rest_cherrypy": {false, true}, "ret_port": {false, true},
		"file_roots": {false, false}, "worker_threads": {false, false}, "rest": {false, false}} {
		if now, later := NetapiTakes(key); [2]bool{now, later} != want {
			t.Errorf("%s: now %v, later %v", key, now, later)
		}
	}
	for _, key := range strings.Fields(netapiNow) {
		if _, later := NetapiTakes(key); later {
			t.Errorf("%s is taken now and later", key)
		}
	}
}

// TestCherryPy: every option of the section is read, refused or reported in the log.
func TestCherryPy(t *testing.T) {
	n, err := netapiOf(t, "rest_cherrypy:\n  port: '8000'\n  disable_ssl: True\n  webhook_url: hooks\n  "+
		"authorized_ips: 10.0.0.1\n  thread_pool: 5\n  nosuch: 1\n"+
		"rest_timeout: 7\nnetapi_enable_clients: [local]\n")
	if err != nil {
		t.Fatal(err)
	}
	c := n.CherryPy
	if c.Port != 8000 || c.Host != "0.0.0.0" || c.WebhookURL != "/hooks" || c.AuthorizedIPs[0] != "10.0.0.1" ||
		!c.EnableSessions || n.RestTimeout != 7*time.Second ||
		len(n.EnableClients) != 1 || n.PIDFile != "/r/var/run/salt-api.pid" || n.LogFile != "/r/var/log/salt/api" {
		t.Errorf("got %+v, %+v", n, c)
	}
	var told []string
	for _, x := range n.Notices {
		told = append(told, x.Text)
	}
	if text := strings.Join(told, "\n"); !strings.Contains(text, "'thread_pool' of rest_cherrypy is not honoured") ||
		!strings.Contains(text, "'nosuch' of rest_cherrypy is not known") {
		t.Errorf("told: %s", text)
	}
	for text, want := range map[string]string{
		"rest_cherrypy: {port: 1}": "'ssl_crt' and 'ssl_key' are " +
			"required",
		"rest_cherrypy: {port: 99999, disable_ssl: 1}": "option 'port' of " +
			"rest_cherrypy is 99999",
		"rest_cherrypy: {port: 1, disable_ssl: 1, api_acl: [x]}":                    "option 'api_acl'",
		"rest_cherrypy: {port: 1, disable_ssl: 1, connections_max: 0}":              "option 'connections_max'",
		"rest_cherrypy: {port: 1, disable_ssl: 1, trusted_proxies: proxy1}":         "option 'trusted_proxies'",
		"rest_tornado: {port: 1, disable_ssl: 1, trusted_proxies: [10.0.0.0/8, 7]}": "option 'trusted_proxies'",
		"rest_cherrypy: {port: 1, disable_ssl: 1, host: [x]}":                       "option 'host'",
		"rest_cherrypy: {port: 1, disable_ssl: 1, authorized_ips: {a: }}":           "option 'authorized_ips'",
	} {
		if _, err := netapiOf(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
	if n, err := netapiOf(t, "rest_cherrypy: {host: x}"); err != nil || n.CherryPy != nil || len(n.Notices) != 1 {
		t.Errorf("without a port: %+v, %v", n, err)
	}
}

// TestFront: the limits for connections, in each section.
func TestFront(t *testing.T) {
	const opts = "{port: 1, disable_ssl: True, connections_max: 100, connections_per_address: '7', trusted_proxies: " +
		"['10.0.0.9/8', '2001:db8::1']}"
	n, err := netapiOf(t, "rest_cherrypy: "+opts+"\nrest_tornado: "+opts+"\nrest_wsgi: {port: 2}\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []Front{n.CherryPy.Front, n.Tornado.Front} {
		if f.MaxConnections != 100 || f.EachAddress != 7 || len(f.Proxies) != 2 ||
			f.Proxies[0].String() != "10.0.0.0/8" || f.Proxies[1].String() != "2001:db8::1/128" {
			t.Errorf("got %+v", f)
		}
	}
	if f := n.WSGI.Front; f.MaxConnections != 8192 || f.EachAddress != 0 || f.Proxies != nil {
		t.Errorf("without options: %+v", f)
	}
	if len(n.Notices) > 0 {
		t.Errorf("told: %v", n.Notices)
	}
}

// TestNetapiPaths: paths of salt-api are below root_dir, as in Salt.
func TestNetapiPaths(t *testing.T) {
	for text, want := range map[string][2]string{
		"": {"/r/var/run/salt-api.pid", "/r/var/log/salt/api"},
		"api_pidfile: /run/x.pid\napi_logfile: /r/log/x\n":     {"/r/run/x.pid", "/r/log/x"},
		"api_pidfile: x.pid\napi_logfile: udp://127.0.0.1:5\n": {"/r/x.pid", "udp://127.0.0.1:5"},
	} {
		n, err := netapiOf(t, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]string{n.PIDFile, n.LogFile}; got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}
