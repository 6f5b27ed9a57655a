package master

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"brine/config"
	"brine/modules/eauth"
	"brine/modules/fleet/keys"
	"brine/wire/crypt"
	"brine/wire/payload"
)

// Keys are a master's own keys. They are read, and made at the first start, before the process gives up root.
type Keys struct {
	Own    *crypt.PrivateKey
	Sign   *crypt.PrivateKey // vouches for Own in sign-in replies (master_sign_pubkey); nil without
	PubSig string            // the precomputed signature (master_use_pubkey_signature)
	Local  eauth.Keys        // of the users of this machine, user → key
}

// LoadKeys reads the keys of a master and makes those that are missing.
func LoadKeys(cfg *config.Master, log *slog.Logger) (*Keys, error) {
	own, err := crypt.LoadMaster(cfg.PKIDir, cfg.ID, cfg.KeySize, cfg.KeyPass)
	if err == nil {
		err = notWeak(cfg, own)
	}
	if err != nil {
		return nil, err
	}
	k := &Keys{Own: own}
	if cfg.MasterSignPubkey {
		if k.Sign, k.PubSig, err = signingKey(cfg); err != nil {
			return nil, err
		}
	}
	k.Local, err = cfg.AccessKeys(crypt.NewKeyString, tellDamage(log))
	return k, err
}

// notWeak refuses a key of this master that others could break.
func notWeak(cfg *config.Master, key *crypt.PrivateKey) error {
	if weak := key.Public().Weak(); weak != nil && !cfg.AllowWeakKeys {
		return fmt.Errorf("a key of this master in %s: %w; make another one, or see allow_weak_keys", cfg.PKIDir, weak)
	}
	return nil
}

// signatureFile is the default of master_pubkey_signature.
const signatureFile = "master_pubkey_signature"

// signingKey reads or makes the pair that vouches for the master's key, and the precomputed signature when that is
// to be sent.
func signingKey(cfg *config.Master) (*crypt.PrivateKey, string, error) {
	key, err := crypt.LoadOrGenerate(cfg.PKIDir, cfg.MasterSignKeyName, cfg.KeySize, cfg.SigningKeyPass)
	if err == nil {
		err = notWeak(cfg, key)
	}
	if err != nil || !cfg.MasterUsePubkeySignature {
		return key, "", err
	}
	name := cfg.MasterPubkeySignature
	if name == "" {
		name = signatureFile
	}
	sig, err := os.ReadFile(filepath.Join(cfg.PKIDir, name))
	if err != nil {
		return nil, "", fmt.Errorf("precomputed signature: %w", err)
	}
	return key, string(sig), nil
}

// ruleFileTime is how long a sign-in waits for a file of the rules: its worker serves others too.
const ruleFileTime = 5 * time.Second

// ruleFiles are the files of the autosign and autoreject rules; with permissive, also those that others may write
// (permissive_pki_access).
func ruleFiles(permissive bool, log *slog.Logger) *keys.Bounded {
	return &keys.Bounded{Files: keys.RuleFiles{Permissive: permissive}, Limit: ruleFileTime, Hangs: tellHang(log)}
}

// tellHang logs what keeps keys from being signed.
func tellHang(log *slog.Logger) func(path string) {
	return func(path string) {
		log.Error("a file that decides on keys cannot be read in time: new keys wait for an operator", "path", path)
	}
}

// tellSlow logs a line that keeps keys from being signed.
func tellSlow(log *slog.Logger) func(line string) {
	return func(line string) {
		log.Error("a line of autosign_file or autoreject_file takes too long: keys that it might mean wait for an "+
			"operator",
			"line", payload.Show(line))
	}
}
