package unixcrypt

import (
	"encoding/base64"
	"strconv"

	//lint:ignore SA1019 the cipher is old, and is what bcrypt is made of
	"golang.org/x/crypto/blowfish"
)

// bcryptDigits are the digits of bcrypt, in an order of its own.
const bcryptDigits = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

const (
	bcryptSalt = 22 // digits of 16 bytes
	bcryptKey  = 72 // bytes of a password that count
)

// bcryptSetting reads "$2b$12$" and the salt behind it. The package bcrypt of x/crypto takes no salt from its caller.
func bcryptSetting(password, setting string) (string, error) {
	const head = len("$2b$05$")
	if len(setting) < head+bcryptSalt || setting[3] != '$' || setting[6] != '$' {
		return Failed, nil
	}
	digits := base64.NewEncoding(bcryptDigits).WithPadding(base64.NoPadding)
	cost, err := strconv.ParseUint(setting[4:6], 10, 8)
	salt, saltErr := digits.DecodeString(setting[head : head+bcryptSalt])
	if err != nil || saltErr != nil || cost < 4 || cost > 31 {
		return Failed, nil
	}
	if cost > maxCost {
		return "", ErrWork
	}
	key := append([]byte(password), 0)
	key = key[:min(len(key), bcryptKey)]
	c, err := blowfish.NewSaltedCipher(key, salt)
	if err != nil {
		return Failed, nil
	}
	for range uint64(1) << cost {
		blowfish.ExpandKey(key, c)
		blowfish.ExpandKey(salt, c)
	}
	sum := []byte("OrpheanBeholderScryDoubt")
	for i := 0; i < len(sum); i += blowfish.BlockSize {
		for range 64 {
			c.Encrypt(sum[i:], sum[i:])
		}
	}
	return setting[:head] + digits.EncodeToString(salt) + digits.EncodeToString(sum[:23]), nil
}
