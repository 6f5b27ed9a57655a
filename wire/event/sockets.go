package event

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
)

// File names of the master's event sockets in its sock_dir.
const (
	MasterPubSocket  = "master_event_pub.ipc"
	MasterPullSocket = "master_event_pull.ipc"
)

const minionHashLen = 10 // hex digits of the hashed id in the name of a minion's sockets

// MinionSockets returns the names of a minion's event sockets in its sock_dir. hashType is the option hash_type.
func MinionSockets(id, hashType string) (pub, pull string, err error) {
	sum, err := hexSum(hashType, id)
	if err != nil {
		return "", "", err
	}
	base := "minion_event_" + sum[:minionHashLen]
	return base + "_pub.ipc", base + "_pull.ipc", nil
}

func hexSum(hashType, text string) (string, error) {
	var sum []byte
	switch b := []byte(text); hashType {
	case "md5":
		s := md5.Sum(b)
		sum = s[:]
	case "sha1":
		s := sha1.Sum(b)
		sum = s[:]
	case "sha224":
		s := sha256.Sum224(b)
		sum = s[:]
	case "sha256":
		s := sha256.Sum256(b)
		sum = s[:]
	case "sha384":
		s := sha512.Sum384(b)
		sum = s[:]
	case "sha512":
		s := sha512.Sum512(b)
		sum = s[:]
	default:
		return "", fmt.Errorf("hash_type %q is not known", hashType)
	}
	return hex.EncodeToString(sum), nil
}
