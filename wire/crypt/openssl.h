// The few operations, on RSA private keys and on large boxes, that wire/crypt takes from libcrypto (1.1.1 and later).
#ifndef BRINE_CRYPT_OPENSSL_H
#define BRINE_CRYPT_OPENSSL_H

#include <stddef.h>
#include <openssl/evp.h>

// Numbers of the hashes Salt's algorithms use.
enum { BRINE_SHA1 = 1, BRINE_SHA224 = 2 };

// brine_rsa_load reads a PKCS#1 key in DER; NULL when libcrypto refuses it. Freed by brine_rsa_free.
EVP_PKEY *brine_rsa_load(const unsigned char *der, long len);
void brine_rsa_free(EVP_PKEY *key);

// The operations return 1, or 0 on any fault, and leave the thread's error queue empty. *outlen is the room
// in out before, and the length of the result after.
int brine_rsa_sign(EVP_PKEY *key, int hash, const unsigned char *digest, size_t n, unsigned char *out, size_t *outlen);
int brine_rsa_oaep(EVP_PKEY *key, int hash, const unsigned char *ct, size_t n, unsigned char *out, size_t *outlen);
int brine_rsa_raw(EVP_PKEY *key, const unsigned char *block, size_t n, unsigned char *out, size_t *outlen);

// brine_aes192_cbc encrypts (seal is 1) or decrypts n bytes in place, whole blocks without padding. It returns 1, or 0 before anything
// is done. The key has 24 bytes, iv 16.
int brine_aes192_cbc(int seal, const unsigned char *key, const unsigned char *iv, unsigned char *text, size_t n);

// brine_aes256_gcm encrypts (seal is 1) n bytes in place and writes tag, or decrypts them and checks tag; aad is authenticated with them. It
// returns 1, 0 when the tag does not match (what text holds then is worth nothing), -1 before anything is done. The key has 32 bytes, iv 12,
// tag 16.
int brine_aes256_gcm(int seal, const unsigned char *key, const unsigned char *iv, const unsigned char *aad, size_t aadlen,
	unsigned char *text, size_t n, unsigned char *tag);

#endif
