package auth

import (
	"strconv"

	"brine/wire/payload"
)

// maxGrains is how many grains a sign-in may send for autosign_grains.
const maxGrains = 1000

// screenSignIn refuses values that no minion sends, before it reads, compares or stores any of them. The sizes come
// from Salt's own values, see wire/payload. An invalid id gets another answer elsewhere.
func screenSignIn(load *payload.Map) *refusal {
	for _, f := range []struct {
		name string
		max  int
	}{{"pub", payload.MaxPublicKey}, {"nonce", payload.MaxNonce}, {"token", payload.MaxSecret},
		{"enc_algo", payload.MaxAlgorithm}, {"sig_algo", payload.MaxAlgorithm}} {
		if n := lengthOf(load.Value(f.name)); n > f.max {
			return badLoad(f.name + " of " + strconv.Itoa(n) + " bytes or parts")
		}
	}
	switch load.Value("nonce").(type) {
	case []any, *payload.Map:
		return badLoad("nonce is no text")
	}
	if n := load.Map("autosign_grains").Len(); n > maxGrains {
		return badLoad("autosign_grains of " + strconv.Itoa(n) + " parts")
	}
	return nil
}

// lengthOf is the length of a value; 0 if it has none.
func lengthOf(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []byte:
		return len(v)
	case []any:
		return len(v)
	case *payload.Map:
		return v.Len()
	}
	return 0
}

// gate asks whether a key without an operator's decision may be stored. If not, the minion gets the answer for a
// pending key: it asks again, and the key is stored when there is space.
func (m *Master) gate(in signInRequest, state string, d decision) decision {
	if m.opt.Admit == nil || !d.deny && (d.put == StateNone || d.put == StateAccepted || state != StateNone) {
		return d
	}
	if why := m.opt.Admit(in.from, d.put == StatePending); why != "" {
		return decision{ret: d.ret, why: why}
	}
	return d
}

// nameable returns id if it may be stored and logged, else "".
func nameable(id string) string {
	if !ValidID(id) {
		return ""
	}
	return id
}

// loadLimits are the limits for names in minions' loads that are stored, logged or used as map keys.
var loadLimits = []struct {
	name string
	max  int
}{{"cmd", payload.MaxCommand}, {"jid", payload.MaxJID}, {"tag", payload.MaxTag}, {"saltenv", payload.MaxEnv},
	{"pillarenv", payload.MaxEnv}, {"fun", payload.MaxFunction}, {"tgt_type", payload.MaxFunction},
	{"master_id", payload.MaxID}, {"ret", payload.MaxReturners}}

// screenNames refuses an authentic load with a name that is too long for any minion.
func screenNames(load *payload.Map) *refusal {
	for _, f := range loadLimits {
		n := 0
		switch v := load.Value(f.name).(type) {
		case string:
			n = len(v)
		case []byte:
			n = len(v)
		}
		if n > f.max {
			return &refusal{why: Why{Text: f.name + " of " + strconv.Itoa(n) + " bytes"}, known: true}
		}
	}
	return nil
}
