// The few operations of libcrypto (1.1.1 and later) that wire/crypt uses for RSA private keys and large boxes.
#ifndef BRINE_CRYPT_OPENSSL_H
#define BRINE_CRYPT_OPENSSL_H

#include <stddef.h>
#include <openssl/evp.h>

// Numbers of the hashes that Salt's algorithms use.
enum { BRINE_SHA1 = 1, BRINE_SHA224 = 2 };

// brine_rsa_load reads a PKCS#1 key in DER; NULL if libcrypto refuses it. brine_rsa_free frees it.
EVP_PKEY *brine_rsa_load(const unsigned char *der, long len);
void brine_rsa_free(EVP_PKEY *key);

// These operations return 1, or 0 on any fault, and leave the thread's error queue empty. *outlen is first the size of out,
// and afterwards the length of the result.
int brine_rsa_sign(EVP_PKEY *key, int hash, const unsigned char *digest, size_t n, unsigned char *out, size_t *outlen);
int brine_rsa_oaep(EVP_PKEY *key, int hash, const unsigned char *ct, size_t n, unsigned char *out, size_t *outlen);
int brine_rsa_raw(EVP_PKEY *key, const unsigned char *block, size_t n, unsigned char *out, size_t *outlen);

// brine_aes192_cbc encrypts (seal is 1) or decrypts n bytes in place, whole blocks without padding. It returns 1, or 0 if
// nothing was changed. The key has 24 bytes, iv 16.
int brine_aes192_cbc(int seal, const unsigned char *key, const unsigned char *iv, unsigned char *text, size_t n);

// brine_aes256_gcm encrypts (seal is 1) n bytes in place and writes tag, or decrypts them and checks tag; aad is
// authenticated with them. It returns 1; 0 if the tag does not match (text then has no meaning); -1 if nothing was
// changed. The key has 32 bytes, iv 12, tag 16.
int brine_aes256_gcm(int seal, const unsigned char *key, const unsigned char *iv, const unsigned char *aad, size_t aadlen,
	unsigned char *text, size_t n, unsigned char *tag);

#endif
