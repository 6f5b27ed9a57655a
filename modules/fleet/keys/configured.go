package keys

import (
	"brine/config"
	"brine/modules/fleet/datacache"
	"brine/wire/crypt"
)

// OpenStore opens the keys of the master that cfg describes: those of its cluster, when it belongs to one.
func OpenStore(cfg *config.Master) *Store {
	dir := cfg.PKIDir
	if cfg.ClusterID != "" && cfg.ClusterPKIDir != "" {
		dir = cfg.ClusterPKIDir
	}
	return NewStore(Options{Dir: dir, MasterDir: cfg.PKIDir})
}

// Configured are the options of a manager as the configuration of a master wants them, with the master's own data
// cache. Daemon and tools begin with these and change what their callers ask for.
func Configured(cfg *config.Master) ManagerOptions {
	return ManagerOptions{
		CacheDir: cfg.CacheDir, MasterID: cfg.ID, HashType: cfg.HashType, RotateAESKey: cfg.RotateAESKey,
		PreserveMinionCache: cfg.PreserveMinionCache, KeySize: cfg.KeySize,
		PublicSignature: cfg.MasterPubkeySignature, SignKeyName: cfg.MasterSignKeyName,
		Data: func() (DataCache, error) { return datacache.OpenBanks(cfg.CacheDir) },
		CheckKey: func(pem string) error {
			key, err := crypt.ParsePublicKey([]byte(pem))
			if err != nil || cfg.AllowWeakKeys {
				return err
			}
			return key.Weak()
		},
		Generate: generatePair,
		Sign: func(priv string, msg []byte) ([]byte, error) {
			key, err := crypt.ParsePrivateKey([]byte(priv), cfg.SigningKeyPass)
			if err != nil {
				return nil, err
			}
			return key.Sign(cfg.PublishSigningAlgorithm, msg)
		},
	}
}

func generatePair(bits int) (priv, pub string, err error) {
	key, err := crypt.GenerateKey(bits)
	if err != nil {
		return "", "", err
	}
	text, err := key.MarshalPEM("")
	return string(text), key.Public().PEM(), err
}
