package crypt

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
)

// PEM block types of private keys.
const (
	pemPKCS1          = "RSA PRIVATE KEY"
	pemPKCS8          = "PRIVATE KEY"
	pemPKCS8Encrypted = "ENCRYPTED PRIVATE KEY"
)

// ParsePrivateKey reads a private key of any Salt release: PKCS#1, plain or with traditional encryption (DES-EDE3-CBC
// in 3006, AES in later releases), and PKCS#8, plain or encrypted (FIPS). It ignores the passphrase if the key is not
// encrypted. The error wraps ErrBadKey.
func ParsePrivateKey(text []byte, passphrase string) (*PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%w: no PEM block", ErrBadKey)
	}
	der, err := decryptBlock(block, passphrase)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadKey, err)
	}
	key, err := parsePrivateDER(block.Type, der)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadKey, err)
	}
	return newPrivateKey(key)
}

// decryptBlock returns the DER in a block.
func decryptBlock(block *pem.Block, passphrase string) ([]byte, error) {
	if block.Type == pemPKCS8Encrypted {
		return decryptPKCS8(block.Bytes, passphrase)
	}
	//lint:ignore SA1019 traditional PEM encryption is weak, and is what Salt writes with key_pass
	if x509.IsEncryptedPEMBlock(block) {
		//lint:ignore SA1019 as above
		return x509.DecryptPEMBlock(block, []byte(passphrase))
	}
	return block.Bytes, nil
}

func parsePrivateDER(blockType string, der []byte) (*rsa.PrivateKey, error) {
	switch blockType {
	case pemPKCS1:
		return x509.ParsePKCS1PrivateKey(der)
	case pemPKCS8, pemPKCS8Encrypted:
		key, err := x509.ParsePKCS8PrivateKey(der)
		if err != nil {
			return nil, err
		}
		if key, ok := key.(*rsa.PrivateKey); ok {
			return key, nil
		}
		return nil, fmt.Errorf("a %T", key)
	}
	return nil, fmt.Errorf("a PEM block %.40q", blockType)
}

// MarshalPEM writes the key as PKCS#1. If the passphrase is not empty, it uses traditional encryption with AES-256-CBC,
// like Salt 3007 and later; 3006 reads that too.
func (k *PrivateKey) MarshalPEM(passphrase string) ([]byte, error) {
	block := &pem.Block{Type: pemPKCS1, Bytes: x509.MarshalPKCS1PrivateKey(k.rsa)}
	if passphrase == "" {
		return pem.EncodeToMemory(block), nil
	}
	//lint:ignore SA1019 the form that Salt reads
	sealed, err := x509.EncryptPEMBlock(rand.Reader, pemPKCS1, block.Bytes, []byte(passphrase), x509.PEMCipherAES256)
	if err != nil {
		return nil, fmt.Errorf("encrypt private key: %w", err)
	}
	return pem.EncodeToMemory(sealed), nil
}
