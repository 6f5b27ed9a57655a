package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/wire/payload"
)

// clientIn loads a client configuration with dir as the home directory.
func clientIn(t *testing.T, dir string, env map[string]string) (*Client, error) {
	t.Helper()
	return Loader{Path: filepath.Join(dir, "master"), Overrides: payload.M("show_jid", true),
		Getenv: func(k string) string {
			if k == "HOME" {
				return dir
			}
			return env[k]
		}}.Client()
}

func TestClientFiles(t *testing.T) {
	for _, tt := range []struct {
		name    string
		files   []string
		env     map[string]string
		timeout time.Duration
		rc      string
	}{
		{"none", []string{"master", "id: x\ntimeout: 8"}, nil, 8 * time.Second, ""},
		{"home", []string{"master", "id: x\ntimeout: 8", ".saltrc", "timeout: 9"}, nil, 9 * time.Second, ".saltrc"},
		{"config folder", []string{"master", "id: x", ".saltrc", "timeout: 9", ".config/salt/saltrc", "timeout: 11"},
			nil, 11 * time.Second, ".config/salt/saltrc"},
		{"empty config folder", []string{"master", "id: x", ".saltrc", "timeout: 9", ".config/salt/other", ""}, nil,
			5 * time.Second, ""},
		{"environment", []string{"master", "id: x", ".saltrc", "timeout: 9", "mine", "timeout: 12"},
			map[string]string{"SALT_CLIENT_CONFIG": "mine"}, 12 * time.Second, "mine"},
		{"environment names nothing", []string{"master", "id: x", ".saltrc", "timeout: 9"},
			map[string]string{"SALT_CLIENT_CONFIG": "gone"}, 9 * time.Second, ".saltrc"},
		{"xdg", []string{"master", "id: x", "x/salt/saltrc", "timeout: 13"}, map[string]string{"XDG_CONFIG_HOME": "x"},
			13 * time.Second, "x/salt/saltrc"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := write(t, tt.files...)
			env := map[string]string{}
			for k, v := range tt.env {
				env[k] = filepath.Join(dir, v)
			}
			c, err := clientIn(t, dir, env)
			if err != nil {
				t.Fatal(err)
			}
			rc := strings.TrimPrefix(c.SaltRC, dir+"/")
			if c.Timeout != tt.timeout || rc != tt.rc || !c.ShowJID {
				t.Errorf("got timeout %v, file %q, show_jid %v; want %v, %q, true", c.Timeout, rc, c.ShowJID,
					tt.timeout, tt.rc)
			}
		})
	}
}

func TestClientToken(t *testing.T) {
	dir := write(t, "master", "id: x\ninterface: '::'\nret_port: 14506\ntoken_expire: 60", "salt_token", "abc\n")
	c, err := clientIn(t, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Token != "abc" || c.TokenFile != dir+"/salt_token" || c.MasterURI != "tcp://[::1]:14506" {
		t.Errorf("got token %q in %s, master %s", c.Token, c.TokenFile, c.MasterURI)
	}
	if strings.Contains(c.String(), "abc") {
		t.Errorf("String shows the token: %s", c)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(c.TokenFile, old, old); err != nil {
		t.Fatal(err)
	}
	if c, err = clientIn(t, dir, nil); err != nil || c.Token != "" {
		t.Errorf("an expired token: got %q, %v", c.Token, err)
	}
}

func TestClientBrokenPersonalFile(t *testing.T) {
	dir := write(t, "master", "id: x", ".saltrc", "a: b: c")
	if _, err := clientIn(t, dir, nil); err == nil || !strings.Contains(err.Error(), ".saltrc") {
		t.Errorf("got %v, want an error about .saltrc", err)
	}
}
