//go:build cgo

#include "openssl.h"

#include <limits.h>

#include <openssl/err.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

static const EVP_MD *md_of(int hash) {
	return hash == BRINE_SHA224 ? EVP_sha224() : EVP_sha1();
}

// done ends an operation: it frees the context and, on failure, clears the thread's error queue.
static int done(EVP_PKEY_CTX *ctx, int ok) {
	EVP_PKEY_CTX_free(ctx);
	if (!ok)
		ERR_clear_error();
	return ok;
}

int brine_aes192_cbc(int seal, const unsigned char *key, const unsigned char *iv, unsigned char *text, size_t n) {
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	int len = 0, ok = n <= INT_MAX && ctx != NULL && EVP_CipherInit_ex(ctx, EVP_aes_192_cbc(), NULL, key, iv, seal) > 0 &&
		EVP_CIPHER_CTX_set_padding(ctx, 0) > 0 && EVP_CipherUpdate(ctx, text, &len, text, (int)n) > 0;
	EVP_CIPHER_CTX_free(ctx);
	if (!ok)
		ERR_clear_error();
	return ok;
}

int brine_aes256_gcm(int seal, const unsigned char *key, const unsigned char *iv, const unsigned char *aad, size_t aadlen,
	unsigned char *text, size_t n, unsigned char *tag) {
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	int len = 0, got = -1;
	if (n <= INT_MAX && aadlen <= INT_MAX && ctx != NULL && EVP_CipherInit_ex(ctx, EVP_aes_256_gcm(), NULL, key, iv, seal) > 0 &&
		EVP_CipherUpdate(ctx, NULL, &len, aad, (int)aadlen) > 0 &&
		(seal || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_TAG, 16, tag) > 0))
		got = EVP_CipherUpdate(ctx, text, &len, text, (int)n) > 0 && EVP_CipherFinal_ex(ctx, text + len, &len) > 0 &&
			(!seal || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG, 16, tag) > 0);
	EVP_CIPHER_CTX_free(ctx);
	if (got != 1)
		ERR_clear_error();
	return got;
}

EVP_PKEY *brine_rsa_load(const unsigned char *der, long len) {
	EVP_PKEY *key = d2i_PrivateKey(EVP_PKEY_RSA, NULL, &der, len);
	if (key == NULL)
		ERR_clear_error();
	return key;
}

void brine_rsa_free(EVP_PKEY *key) { EVP_PKEY_free(key); }

int brine_rsa_sign(EVP_PKEY *key, int hash, const unsigned char *digest, size_t n, unsigned char *out, size_t *outlen) {
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(key, NULL);
	return done(ctx, ctx != NULL && EVP_PKEY_sign_init(ctx) > 0 &&
		EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_PADDING) > 0 &&
		EVP_PKEY_CTX_set_signature_md(ctx, md_of(hash)) > 0 &&
		EVP_PKEY_sign(ctx, out, outlen, digest, n) > 0);
}

int brine_rsa_oaep(EVP_PKEY *key, int hash, const unsigned char *ct, size_t n, unsigned char *out, size_t *outlen) {
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(key, NULL);
	return done(ctx, ctx != NULL && EVP_PKEY_decrypt_init(ctx) > 0 &&
		EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_OAEP_PADDING) > 0 &&
		EVP_PKEY_CTX_set_rsa_oaep_md(ctx, md_of(hash)) > 0 &&
		EVP_PKEY_CTX_set_rsa_mgf1_md(ctx, md_of(hash)) > 0 &&
		EVP_PKEY_decrypt(ctx, out, outlen, ct, n) > 0);
}

int brine_rsa_raw(EVP_PKEY *key, const unsigned char *block, size_t n, unsigned char *out, size_t *outlen) {
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(key, NULL);
	return done(ctx, ctx != NULL && EVP_PKEY_decrypt_init(ctx) > 0 &&
		EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_NO_PADDING) > 0 &&
		EVP_PKEY_decrypt(ctx, out, outlen, block, n) > 0);
}
