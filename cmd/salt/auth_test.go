package salt

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"brine/cmd/masterlink"
	"brine/cmd/session"
	"brine/cmd/tooltest"
	"brine/wire/client"
	"brine/wire/payload"
)

// TestCredentials: options, the token file and readable keys decide which credentials a job carries.
func TestCredentials(t *testing.T) {
	eauth := []string{"-a", "sharedsecret", "--username=u", "--password=p"}
	for _, tt := range []struct {
		name       string
		argv       []string
		token, key string
		stdin      string
		want       *payload.Map
	}{
		{"nothing", nil, "", "k", "", nil},
		{"options", eauth, "", "k", "", payload.M("username", "u", "password", "p", "eauth", "sharedsecret")},
		{"asked for", []string{"-a", "pam"}, "", "", "me\nsecret\n", payload.M("username", "me", "password", "secret",
			"eauth", "pam")},
		{"this user for an empty name", []string{"-a", "pam", "--password="}, "", "", "\n",
			payload.M("username", session.RunningUser(), "password", "", "eauth", "pam")},
		{"token and the key of root", nil, "tok", "k", "", payload.M("key", "k")},
		{"token alone", eauth, "tok", "", "", payload.M("token", "tok")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := tooltest.MustOpen(t, saltParser, "", append(tt.argv, "*", "test.ping")...)
			r.Stdin = strings.NewReader(tt.stdin)
			r.Client.Token = tt.token
			if tt.key != "" {
				tooltest.WriteIn(t, filepath.Join(r.Master.CacheDir, ".root_key"), tt.key+"\n")
			}
			got, err := masterlink.JobCredentials(t.Context(), r.Session, nil)
			if err != nil || tooltest.Packed(t, got) != tooltest.Packed(t, tt.want) {
				t.Errorf("got %v, %v, want %v", got, err, tt.want)
			}
		})
	}
}

func TestUnknownAuth(t *testing.T) {
	r := tooltest.MustOpen(t, saltParser, "", "-a", "nosuch", "*", "test.ping")
	if _, err := masterlink.JobCredentials(t.Context(), r.Session, nil); !errors.Is(err, masterlink.ErrNoAuth) {
		t.Errorf("got %v, want %v", err, masterlink.ErrNoAuth)
	}
	want := "The specified external authentication system \"nosuch\" is not available\nAvailable eauth types: auto, " +
		"file, ldap, pam, rest, sharedsecret\n"
	if r.Out.String() != want {
		t.Errorf("got %q, want %q", r.Out, want)
	}
}

// TestClientError: a request that cannot be sent is reported in Salt's words. Faults of this machine stay
// errors.
func TestClientError(t *testing.T) {
	r := tooltest.MustOpen(t, saltParser, "", "*", "test.ping")
	other := errors.New("disk is full")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{client.ErrNoMaster, masterlink.TextMasterDown}, {client.ErrTimeout, masterlink.TextTimedOut},
		{client.ErrNoBus, masterlink.TextTimedOut}, {client.ErrEmptyReply, masterlink.TextRefused},
		{&client.RemoteError{Name: "AuthorizationError", Message: "Authorization error occurred."},
			"Authorization error occurred."},
		{&client.RemoteError{Message: "Some exception handling minion payload"},
			"Some exception handling minion payload"},
	} {
		var no *masterlink.Refusal
		if err := masterlink.ClientError(r.Session, tt.err); !errors.As(err, &no) || no.Text != tt.want {
			t.Errorf("%v: got %v, want %q", tt.err, err, tt.want)
		}
	}
	if err := masterlink.ClientError(r.Session, other); err != other {
		t.Errorf("got %v, want %v", err, other)
	}
	if want := "[ERROR   ] Unable to connect to the salt master publisher at " + r.Master.SockDir +
		"\n"; r.Err.String() != want {
		t.Errorf("stderr %q, want %q", r.Err, want)
	}
}

// TestSilenceText: the text is Salt's where nothing is known. Otherwise it holds the reason.
func TestSilenceText(t *testing.T) {
	r := tooltest.MustOpen(t, saltParser, "", "*", "test.ping")
	pki := r.Master.PKIDir
	for _, dir := range []string{"minions_pre/new1", "minions_rejected/bad1", "minions_denied/evil1"} {
		tooltest.WriteIn(t, filepath.Join(pki, dir), "some key")
	}
	tooltest.WriteIn(t, filepath.Join(r.Master.SyndicDir, "below1"), "")
	tool := &saltTool{Session: r.Session}
	if err := masterlink.Cache(tool.Session).StoreGrains("dead2", payload.M("id", "dead2")); err != nil {
		t.Fatal(err)
	}
	const later = "The minions may not have all finished running and any remaining minions will return upon " +
		"completion. To look up the return " +
		"data for this job later, run the following command:\n\nsalt-run jobs.lookup_jid 7"
	for _, tt := range []struct {
		id   string
		why  client.Silence
		want string
	}{
		{"dead1", client.NoResponse, "Minion did not return. [No response]\n" + later},
		{"dead1", client.NotConnected, "Minion did not return. [No response]\n" + later},
		{"dead2", client.NotConnected, "Minion did not return. [Not connected]"},
		{"below1", client.NoResponse, ""},
		{"nobody", client.Unknown, "Minion did not return. [Key not accepted]\nThe master has no key of this minion."},
		{"new1", client.Unknown, "Minion did not return. [Key not accepted]\nThe key of this minion waits to be " +
			"accepted."},
		{"bad1", client.Unknown, "Minion did not return. [Key not accepted]\nThe key of this minion is rejected."},
		{"evil1", client.Unknown, "Minion did not return. [Key not accepted]\nThe key of this minion is denied."},
		{"idle1", client.NotRunning, "Minion did not return. [Not running]\nThe minion answers, but it does not run " +
			"this job: it did not take it, " +
			"or its return was lost. To look up the return data for this job later, run the following " +
			"command:\n\nsalt-run jobs.lookup_jid 7"},
	} {
		if got := tool.silenceText("7", client.Return{ID: tt.id, Silence: tt.why}); got != tt.want {
			t.Errorf("%s, %d: got %q, want %q", tt.id, tt.why, got, tt.want)
		}
	}
}
