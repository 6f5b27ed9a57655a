package pki

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"hash"
)

// The parts of an encrypted key (RFC 5958, RFC 8018).
type (
	encryptedKey struct {
		Algorithm pkix.AlgorithmIdentifier
		Data      []byte
	}
	pbes2Params struct {
		KDF    pkix.AlgorithmIdentifier
		Cipher pkix.AlgorithmIdentifier
	}
	pbkdf2Params struct {
		Salt   []byte
		Rounds int
		Length int                      `asn1:"optional"`
		PRF    pkix.AlgorithmIdentifier `asn1:"optional"`
	}
)

var (
	oidPBES2     = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}
	oidPBKDF2    = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12}
	oidHMACSHA1  = asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 7}
	oidHMACSHA2  = asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 9}
	oidHMACSHA5  = asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 11}
	oidAES128CBC = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 2}
	oidAES192CBC = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 22}
	oidAES256CBC = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 42}
)

const (
	kdfRounds    = 600_000 // OWASP's number for HMAC-SHA256; cryptography takes 20,000
	maxKDFRounds = 10_000_000
)

// encrypt encrypts a key with PBKDF2 and AES-256.
func encrypt(der []byte, passphrase string) ([]byte, error) {
	salt, iv := make([]byte, 16), make([]byte, aes.BlockSize)
	_, _ = rand.Read(salt) // it never fails
	_, _ = rand.Read(iv)
	key, err := pbkdf2.Key(sha256.New, passphrase, salt, kdfRounds, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	pad := aes.BlockSize - len(der)%aes.BlockSize
	data := append([]byte{}, der...)
	for range pad {
		data = append(data, byte(pad))
	}
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(data, data)
	kdf, err := asn1.Marshal(pbkdf2Params{Salt: salt, Rounds: kdfRounds,
		PRF: pkix.AlgorithmIdentifier{Algorithm: oidHMACSHA2, Parameters: asn1.NullRawValue}})
	if err != nil {
		return nil, err
	}
	ivDER, err := asn1.Marshal(iv)
	if err != nil {
		return nil, err
	}
	params, err := asn1.Marshal(pbes2Params{pkix.AlgorithmIdentifier{Algorithm: oidPBKDF2,
		Parameters: asn1.RawValue{FullBytes: kdf}},
		pkix.AlgorithmIdentifier{Algorithm: oidAES256CBC, Parameters: asn1.RawValue{FullBytes: ivDER}}})
	if err != nil {
		return nil, err
	}
	return asn1.Marshal(encryptedKey{pkix.AlgorithmIdentifier{Algorithm: oidPBES2,
		Parameters: asn1.RawValue{FullBytes: params}}, data})
}

// decrypt gives the key in an encrypted one; what is not encrypted comes back as it is.
func decrypt(der []byte, passphrase *string) (plain []byte, encrypted bool, err error) {
	var e encryptedKey
	if rest, err := asn1.Unmarshal(der, &e); err != nil || len(rest) > 0 {
		return der, false, nil
	}
	if passphrase == nil {
		return nil, true, ErrNoPassword
	}
	var p pbes2Params
	var k pbkdf2Params
	var iv []byte
	if _, err := asn1.Unmarshal(e.Algorithm.Parameters.FullBytes, &p); err != nil ||
		!e.Algorithm.Algorithm.Equal(oidPBES2) ||
		!p.KDF.Algorithm.Equal(oidPBKDF2) {
		return nil, true, errors.New("The encryption of the private key is not supported on this minion")
	}
	if _, err := asn1.Unmarshal(p.KDF.Parameters.FullBytes, &k); err != nil {
		return nil, true, ErrForm
	}
	if _, err := asn1.Unmarshal(p.Cipher.Parameters.FullBytes, &iv); err != nil || len(iv) != aes.BlockSize ||
		k.Rounds <= 0 || k.Rounds > maxKDFRounds || len(e.Data) == 0 || len(e.Data)%aes.BlockSize != 0 {
		return nil, true, ErrForm
	}
	size := map[string]int{oidAES128CBC.String(): 16, oidAES192CBC.String(): 24,
		oidAES256CBC.String(): 32}[p.Cipher.Algorithm.String()]
	sum := map[string]func() hash.Hash{"": sha1.New, oidHMACSHA1.String(): sha1.New, oidHMACSHA2.String(): sha256.New,
		oidHMACSHA5.String(): sha512.New}[k.PRF.Algorithm.String()]
	if size == 0 || sum == nil {
		return nil, true, errors.New("The encryption of the private key is not supported on this minion")
	}
	key, err := pbkdf2.Key(sum, *passphrase, k.Salt, k.Rounds, size)
	if err != nil {
		return nil, true, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, true, err
	}
	data := append([]byte{}, e.Data...)
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(data, data)
	pad := int(data[len(data)-1])
	if pad == 0 || pad > aes.BlockSize || !hmac.Equal(data[len(data)-pad:], padding(pad)) {
		return nil, true, ErrPassword
	}
	return data[:len(data)-pad], true, nil
}

func padding(n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(n)
	}
	return out
}
