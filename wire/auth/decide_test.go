package auth

import "testing"

func TestDecide(t *testing.T) {
	const a, b = "key a", "key b"
	for _, tt := range []struct {
		name string
		in   facts
		want decision
	}{
		{"new", facts{sent: a}, decision{ret: true, act: ActPend, put: StatePending, pub: a}},
		{"new, auto-signed", facts{sent: a, sign: true}, decision{accept: true, act: ActAccept, put: StateAccepted,
			pub: a}},
		{"new, auto-rejected", facts{sent: a, reject: true}, decision{act: ActReject, put: StateRejected, pub: a}},
		{"new, both rules", facts{sent: a, reject: true, sign: true}, decision{act: ActReject, put: StateRejected,
			pub: a}},
		{"pending", facts{state: StatePending, stored: a, sent: a}, decision{ret: true, act: ActPend}},
		{"pending, other line ends", facts{state: StatePending, stored: " key\r\na\n", sent: "key\na"},
			decision{ret: true, act: ActPend}},
		{"pending, another key", facts{state: StatePending, stored: a, sent: b}, decision{act: ActDenied, deny: true}},
		{"pending, another key, auto-signed", facts{state: StatePending, stored: a, sent: b, sign: true},
			decision{act: ActDenied, deny: true}},
		{"pending, auto-signed", facts{state: StatePending, stored: a, sent: a, sign: true},
			decision{accept: true, act: ActAccept, put: StateAccepted, pub: a}},
		{"pending, auto-rejected", facts{state: StatePending, stored: a, sent: a, reject: true},
			decision{act: ActReject, put: StateRejected, pub: a}},
		{"pending, another key, auto-rejected", facts{state: StatePending, stored: a, sent: b, reject: true},
			decision{act: ActReject, put: StateRejected, pub: a}},
		{"accepted", facts{state: StateAccepted, stored: a + "\n", sent: a}, decision{accept: true, act: ActAccept}},
		{"accepted, another key", facts{state: StateAccepted, stored: a, sent: b}, decision{act: ActDenied,
			deny: true}},
		{"accepted, damaged", facts{state: StateAccepted, stored: a, sent: b, spoilt: true},
			decision{ret: true, act: ActError, cause: CauseSpoilt}},
		{"accepted, damaged, the same text comes", facts{state: StateAccepted, stored: a, sent: a, spoilt: true},
			decision{ret: true, act: ActError, cause: CauseSpoilt}},
		{"accepted, damaged, auto-signed", facts{state: StateAccepted, stored: a, sent: b, spoilt: true, sign: true},
			decision{ret: true, act: ActError, cause: CauseSpoilt}},
		{"accepted, damaged, open mode", facts{open: true, state: StateAccepted, sent: b, spoilt: true},
			decision{accept: true, act: ActAccept, put: StateAccepted, pub: b}},
		{"pending, damaged", facts{state: StatePending, sent: b, spoilt: true}, decision{ret: true, act: ActPend,
			put: StatePending, pub: b}},
		{"pending, damaged, auto-rejected", facts{state: StatePending, sent: b, spoilt: true, reject: true},
			decision{act: ActReject, put: StateRejected, pub: b}},
		{"pending, damaged, auto-signed", facts{state: StatePending, stored: a, sent: b, spoilt: true, sign: true},
			decision{act: ActDenied, deny: true}},
		{"accepted, rules do not matter", facts{state: StateAccepted, stored: a, sent: a, reject: true},
			decision{accept: true, act: ActAccept}},
		{"rejected", facts{state: StateRejected, stored: a, sent: a}, decision{act: ActReject}},
		{"rejected, another key", facts{state: StateRejected, stored: a, sent: b, sign: true},
			decision{act: ActReject}},
		{"unknown state", facts{state: "odd", stored: a, sent: a, sign: true}, decision{act: ActError}},
		{"open mode, new", facts{open: true, sent: a}, decision{accept: true, act: ActAccept, put: StateAccepted,
			pub: a}},
		{"open mode, accepted", facts{open: true, state: StateAccepted, stored: a, sent: a},
			decision{accept: true, act: ActAccept}},
		{"open mode, another key", facts{open: true, state: StateAccepted, stored: a, sent: b},
			decision{accept: true, act: ActAccept, put: StateAccepted, pub: b}},
		{"open mode, rejected", facts{open: true, state: StateRejected, stored: a, sent: a},
			decision{accept: true, act: ActAccept, put: StateAccepted, pub: a}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := decide(tt.in)
			if (got.why == "") != got.accept {
				t.Errorf("reason %q with accept %v", got.why, got.accept)
			}
			got.why = ""
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestValidID(t *testing.T) {
	for id, want := range map[string]bool{
		"m1": true, "web1.example.com": true, "a b": true, "ü": true, "...": true, "minions": true,
		"": false, ".": false, "..": false, "a/b": false, "../x": false, `a\b`: false, "a\x00b": false, "/": false,
	} {
		if got := ValidID(id); got != want {
			t.Errorf("ValidID(%q) is %v", id, got)
		}
	}
}

func TestCleanKey(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a": "a", "a\n": "a", "\n a\r\nb\r\n": "a\nb", "a\rb": "a\nb", "a\n\nb": "a\n\nb",
	} {
		if got := CleanKey(in); got != want {
			t.Errorf("CleanKey(%q) is %q", in, got)
		}
	}
}
