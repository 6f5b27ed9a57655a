package crypt

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"hash"
)

// Object identifiers of PBES2 (RFC 8018), the only scheme that libraries write today.
var (
	oidPBES2      = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}
	oidPBKDF2     = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12}
	oidHMACSHA224 = asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 8}
	oidHMACSHA256 = asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 9}
	oidHMACSHA512 = asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 11}
	oidDESEDE3CBC = asn1.ObjectIdentifier{1, 2, 840, 113549, 3, 7}
	oidAES128CBC  = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 2}
	oidAES192CBC  = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 22}
	oidAES256CBC  = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 42}
)

// maxIterations limits the work that a key file can demand; libraries write 2048 to 600000.
const maxIterations = 10_000_000

var errPKCS8 = errors.New("an encrypted PKCS#8 key of unknown form or another passphrase")

type encryptedPKCS8 struct {
	Algorithm pkix.AlgorithmIdentifier
	Data      []byte
}

type pbes2Params struct {
	KDF    pkix.AlgorithmIdentifier
	Cipher pkix.AlgorithmIdentifier
}

type pbkdf2Params struct {
	Salt       []byte
	Iterations int
	KeyLength  int                      `asn1:"optional"`
	PRF        pkix.AlgorithmIdentifier `asn1:"optional"`
}

// decryptPKCS8 returns the PKCS#8 structure in an encrypted one.
func decryptPKCS8(der []byte, passphrase string) ([]byte, error) {
	var outer encryptedPKCS8
	var params pbes2Params
	var kdf pbkdf2Params
	var iv []byte
	if !whole(der, &outer) || !outer.Algorithm.Algorithm.Equal(oidPBES2) ||
		!whole(outer.Algorithm.Parameters.FullBytes, &params) || !params.KDF.Algorithm.Equal(oidPBKDF2) ||
		!whole(params.KDF.Parameters.FullBytes, &kdf) || !whole(params.Cipher.Parameters.FullBytes, &iv) {
		return nil, errPKCS8
	}
	newBlock, keyLen := pbesCipher(params.Cipher.Algorithm)
	if newBlock == nil || kdf.Iterations < 1 || kdf.Iterations > maxIterations {
		return nil, errPKCS8
	}
	key, err := pbkdf2.Key(prf(kdf.PRF.Algorithm), passphrase, kdf.Salt, kdf.Iterations, keyLen)
	if err != nil {
		return nil, err
	}
	block, err := newBlock(key)
	if err != nil {
		return nil, err
	}
	return decryptCBC(block, iv, outer.Data)
}

// whole decodes all of der into value.
func whole(der []byte, value any) bool {
	rest, err := asn1.Unmarshal(der, value)
	return err == nil && len(rest) == 0
}

func pbesCipher(oid asn1.ObjectIdentifier) (newBlock func([]byte) (cipher.Block, error), keyLen int) {
	switch {
	case oid.Equal(oidDESEDE3CBC):
		return des.NewTripleDESCipher, 24
	case oid.Equal(oidAES128CBC):
		return aes.NewCipher, 16
	case oid.Equal(oidAES192CBC):
		return aes.NewCipher, 24
	case oid.Equal(oidAES256CBC):
		return aes.NewCipher, 32
	}
	return nil, 0
}

// prf returns the hash of PBKDF2; the default is SHA-1.
func prf(oid asn1.ObjectIdentifier) func() hash.Hash {
	switch {
	case oid.Equal(oidHMACSHA224):
		return sha256.New224
	case oid.Equal(oidHMACSHA256):
		return sha256.New
	case oid.Equal(oidHMACSHA512):
		return sha512.New
	}
	return sha1.New
}

// decryptCBC decrypts and removes PKCS#7 padding.
func decryptCBC(block cipher.Block, iv, data []byte) ([]byte, error) {
	size := block.BlockSize()
	if len(iv) != size || len(data) == 0 || len(data)%size != 0 {
		return nil, errPKCS8
	}
	text := make([]byte, len(data))
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(text, data)
	pad := int(text[len(text)-1])
	if pad < 1 || pad > size {
		return nil, errPKCS8
	}
	return text[:len(text)-pad], nil
}
