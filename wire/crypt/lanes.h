// Lanes for large boxes: AES-192-CBC and SHA-256 of one box, or of two boxes, side by side. Each algorithm mostly waits for
// its own last step; a processor with instructions for both runs one while the other waits.
#ifndef BRINE_CRYPT_LANES_H
#define BRINE_CRYPT_LANES_H

#include <stddef.h>
#include <stdint.h>

// brine_lanes tells whether this processor has the instructions for the other functions.
int brine_lanes(void);

// brine_lane_seal encrypts a box of n bytes in place. The first 16 bytes are the IV. It then adds all whole blocks of 64
// bytes of the encrypted box to the state of a SHA-256. n is a multiple of 16 and at least 128. The key has 24 bytes.
void brine_lane_seal(const unsigned char *key, unsigned char *box, size_t n, uint32_t sum[8]);

// brine_lanes_seal is brine_lane_seal for two boxes.
void brine_lanes_seal(const unsigned char *key0, unsigned char *box0, size_t n0, uint32_t sum0[8],
	const unsigned char *key1, unsigned char *box1, size_t n1, uint32_t sum1[8]);

// brine_lanes_sum adds n0 and n1 blocks of 64 bytes of two texts to the states of two SHA-256.
void brine_lanes_sum(const unsigned char *text0, size_t n0, uint32_t sum0[8], const unsigned char *text1, size_t n1, uint32_t sum1[8]);

#endif
