package auth

import (
	"strconv"

	"brine/wire/payload"
)

// maxGrains is how many grains a sign-in may show to autosign_grains.
const maxGrains = 1000

// screenSignIn refuses what no minion sends, before anything is read, compared or kept. Source of the sizes: Salt's own
// values, see wire/payload. An id that is none has an answer of its own.
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

// lengthOf is how long a value is; 0 for one that has no length.
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

// gate asks whether a key that nobody has decided on may be stored. One that may not is answered as one that waits: its
// minion asks again, and it is stored when there is room.
func (m *Master) gate(in signInRequest, state string, d decision) decision {
	if m.opt.Admit == nil || !d.deny && (d.put == StateNone || d.put == StateAccepted || state != StateNone) {
		return d
	}
	if why := m.opt.Admit(in.from, d.put == StatePending); why != "" {
		return decision{ret: d.ret, why: why}
	}
	return d
}

// nameable is an id that may be kept and logged, "" in place of one that is none.
func nameable(id string) string {
	if !ValidID(id) {
		return ""
	}
	return id
}

// loadLimits are the names in loads of minions that are stored, logged and kept as keys of maps.
var loadLimits = []struct {
	name string
	max  int
}{{"cmd", payload.MaxCommand}, {"jid", payload.MaxJID}, {"tag", payload.MaxTag}, {"saltenv", payload.MaxEnv},
	{"pillarenv", payload.MaxEnv}, {"fun", payload.MaxFunction}, {"tgt_type", payload.MaxFunction},
	{"master_id", payload.MaxID}, {"ret", payload.MaxReturners}}

// screenNames refuses an authentic load with a name that no minion has.
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
