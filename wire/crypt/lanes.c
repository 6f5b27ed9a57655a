//go:build cgo

#include "lanes.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

#define NEEDS __attribute__((target("aes,sha,sse4.1,ssse3,avx")))
#define INSIDE NEEDS __attribute__((always_inline)) static inline

// EACH is a loop whose bounds are constants, unrolled.
#define EACH(i, n) _Pragma("GCC unroll 16") for (int i = 0; i < (n); i++)

enum { ROUNDS = 12, BLOCK = 64, CELL = 16 }; // of AES-192; bytes of a block of SHA-256; of AES

// has_avx tells whether the system saves the registers of AVX.
static int has_avx(unsigned ecx) {
	unsigned low, high;
	if (!(ecx & bit_AVX) || !(ecx & bit_OSXSAVE))
		return 0;
	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (low & 6) == 6;
}

int brine_lanes(void) {
	unsigned a, b, c, d;
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_AES) || !(c & bit_SSE4_1) || !(c & bit_SSSE3) || !has_avx(c))
		return 0;
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & (1u << 29)); // SHA
}

// The constants of FIPS 180-4, 4.2.2.
static const uint32_t sha_k[BLOCK] __attribute__((aligned(16))) = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

// lane is one box that is being sealed.
typedef struct {
	__m128i key[ROUNDS + 1], iv; // iv is the last block of the cipher
	__m128i s0, s1;              // state of SHA-256 in the order of the instructions: ABEF, CDGH
	unsigned char *in;           // the next bytes to encrypt
	const unsigned char *out;    // the next bytes to hash
	size_t left;                 // bytes to encrypt, or to hash without a cipher
} lane;

// sub_rot is the step for every sixth word of AES's key schedule: RotWord, SubWord.
INSIDE uint32_t sub_rot(uint32_t w) {
	return (uint32_t)_mm_extract_epi32(_mm_aeskeygenassist_si128(_mm_set_epi32(0, 0, (int)w, 0), 0), 1);
}

// expand makes the round keys (FIPS 197, 5.2).
INSIDE void expand(__m128i key[ROUNDS + 1], const unsigned char *from) {
	uint32_t w[4 * (ROUNDS + 1)], round = 1;
	__builtin_memcpy(w, from, 24);
	for (int i = 6; i < 4 * (ROUNDS + 1); i++) {
		uint32_t t = w[i - 1];
		if (i % 6 == 0) {
			t = sub_rot(t) ^ round;
			round <<= 1;
		}
		w[i] = w[i - 6] ^ t;
	}
	__builtin_memcpy(key, w, sizeof w);
}

INSIDE void load_sum(lane *l, const uint32_t sum[8]) {
	l->s0 = _mm_set_epi32((int)sum[0], (int)sum[1], (int)sum[4], (int)sum[5]);
	l->s1 = _mm_set_epi32((int)sum[2], (int)sum[3], (int)sum[6], (int)sum[7]);
}

INSIDE void store_sum(const lane *l, uint32_t sum[8]) {
	sum[0] = (uint32_t)_mm_extract_epi32(l->s0, 3), sum[1] = (uint32_t)_mm_extract_epi32(l->s0, 2);
	sum[4] = (uint32_t)_mm_extract_epi32(l->s0, 1), sum[5] = (uint32_t)_mm_extract_epi32(l->s0, 0);
	sum[2] = (uint32_t)_mm_extract_epi32(l->s1, 3), sum[3] = (uint32_t)_mm_extract_epi32(l->s1, 2);
	sum[6] = (uint32_t)_mm_extract_epi32(l->s1, 1), sum[7] = (uint32_t)_mm_extract_epi32(l->s1, 0);
}

// cell encrypts one block of AES.
INSIDE void cell(lane *l) {
	__m128i x = _mm_xor_si128(_mm_xor_si128(l->iv, l->key[0]), _mm_loadu_si128((const __m128i *)l->in));
	for (int r = 1; r < ROUNDS; r++)
		x = _mm_aesenc_si128(x, l->key[r]);
	l->iv = _mm_aesenclast_si128(x, l->key[ROUNDS]);
	_mm_storeu_si128((__m128i *)l->in, l->iv);
	l->in += CELL;
	l->left -= CELL;
}

// steps hashes that many blocks of each of n lanes, and encrypts as many bytes of each if seals is set. Sixteen times four
// rounds of SHA-256 run beside four times twelve rounds of AES. All callers pass constants for n and seals, so that the
// compiler unrolls the inner loops and keeps their state in registers.
INSIDE void steps(lane *l, const int n, const int seals, size_t blocks) {
	const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
	__m128i m[2][4], s0[2], s1[2], a[2], b[2], iv[2], x[2];
	unsigned char *in[2];
	const unsigned char *out[2];
	const __m128i *key[2];
	EACH(i, n) s0[i] = l[i].s0, s1[i] = l[i].s1, iv[i] = l[i].iv, in[i] = l[i].in, out[i] = l[i].out, key[i] = l[i].key;
	for (size_t done = 0; done < blocks; done++) {
		EACH(i, n) {
			a[i] = s0[i], b[i] = s1[i];
			EACH(j, 4) m[i][j] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(out[i] + CELL * j)), swap);
		}
		EACH(r, 16) {
			const __m128i k = _mm_load_si128((const __m128i *)(sha_k + 4 * r));
			const int c = r & 3, e = 3 * c + 1;
			EACH(i, n) {
				const __m128i w = _mm_add_epi32(m[i][c], k);
				if (seals && c == 0)
					x[i] = _mm_xor_si128(_mm_xor_si128(iv[i], key[i][0]), _mm_loadu_si128((const __m128i *)(in[i] + 4 * r)));
				if (seals)
					x[i] = _mm_aesenc_si128(x[i], key[i][e]);
				s1[i] = _mm_sha256rnds2_epu32(s1[i], s0[i], w);
				if (seals)
					x[i] = _mm_aesenc_si128(x[i], key[i][e + 1]);
				s0[i] = _mm_sha256rnds2_epu32(s0[i], s1[i], _mm_shuffle_epi32(w, 0x0e));
				if (seals && c < 3)
					x[i] = _mm_aesenc_si128(x[i], key[i][e + 2]);
				if (seals && c == 3) {
					iv[i] = _mm_aesenclast_si128(x[i], key[i][ROUNDS]);
					_mm_storeu_si128((__m128i *)(in[i] + 4 * (r - 3)), iv[i]);
				}
				if (r < 12) {
					__m128i t = _mm_sha256msg1_epu32(m[i][c], m[i][(r + 1) & 3]);
					t = _mm_add_epi32(t, _mm_alignr_epi8(m[i][(r + 3) & 3], m[i][(r + 2) & 3], 4));
					m[i][c] = _mm_sha256msg2_epu32(t, m[i][(r + 3) & 3]);
				}
			}
		}
		EACH(i, n) {
			s0[i] = _mm_add_epi32(s0[i], a[i]), s1[i] = _mm_add_epi32(s1[i], b[i]);
			in[i] += seals ? BLOCK : 0, out[i] += BLOCK;
		}
	}
	EACH(i, n) l[i].s0 = s0[i], l[i].s1 = s1[i], l[i].iv = iv[i], l[i].in = in[i], l[i].out = out[i], l[i].left -= blocks * BLOCK;
}

// begin prepares a lane. The cipher is a block ahead of the hash, whose first block begins with the IV.
INSIDE void begin(lane *l, const unsigned char *key, unsigned char *box, size_t n, const uint32_t sum[8]) {
	expand(l->key, key);
	l->iv = _mm_loadu_si128((const __m128i *)box);
	l->out = box, l->in = box + CELL, l->left = n - CELL;
	load_sum(l, sum);
	for (int i = 0; i < BLOCK / CELL; i++)
		cell(l);
}

// end finishes a lane.
INSIDE void end(lane *l, uint32_t sum[8]) {
	steps(l, 1, 1, l->left / BLOCK);
	while (l->left > 0)
		cell(l);
	l->left = (size_t)(l->in - l->out);
	steps(l, 1, 0, l->left / BLOCK);
	store_sum(l, sum);
}

static size_t less(const lane *l) { return l[0].left < l[1].left ? l[0].left : l[1].left; }

// forget clears the keys on the stack.
static void forget(lane *l, size_t n) {
	__builtin_memset(l, 0, n);
	__asm__ __volatile__("" : : "r"(l) : "memory");
}

NEEDS void brine_lane_seal(const unsigned char *key, unsigned char *box, size_t n, uint32_t sum[8]) {
	lane l[1];
	begin(l, key, box, n, sum);
	end(l, sum);
	forget(l, sizeof l);
}

NEEDS void brine_lanes_seal(const unsigned char *key0, unsigned char *box0, size_t n0, uint32_t sum0[8],
	const unsigned char *key1, unsigned char *box1, size_t n1, uint32_t sum1[8]) {
	lane l[2];
	begin(l, key0, box0, n0, sum0);
	begin(l + 1, key1, box1, n1, sum1);
	steps(l, 2, 1, less(l) / BLOCK);
	end(l, sum0);
	end(l + 1, sum1);
	forget(l, sizeof l);
}

// text prepares a lane that only hashes.
INSIDE void text(lane *l, const unsigned char *from, size_t blocks, const uint32_t sum[8]) {
	l->iv = _mm_setzero_si128(), l->in = NULL;
	l->out = from, l->left = blocks * BLOCK;
	load_sum(l, sum);
}

NEEDS void brine_lanes_sum(const unsigned char *text0, size_t n0, uint32_t sum0[8], const unsigned char *text1, size_t n1, uint32_t sum1[8]) {
	lane l[2];
	text(l, text0, n0, sum0);
	text(l + 1, text1, n1, sum1);
	steps(l, 2, 0, less(l) / BLOCK);
	steps(l, 1, 0, l[0].left / BLOCK);
	steps(l + 1, 1, 0, l[1].left / BLOCK);
	store_sum(l, sum0);
	store_sum(l + 1, sum1);
}

#else

int brine_lanes(void) { return 0; }

#endif
