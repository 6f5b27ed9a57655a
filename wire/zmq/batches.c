//go:build staticzmq && cgo

#include "batches.h"

#include <string.h>

#ifdef __linux__
#include <malloc.h>
#else
#define malloc_usable_size(block) 0 // every other system has another name for it
#endif

// Three neighbouring fields in options_t of libzmq 4.3 (src/options.hpp): in_batch_size and out_batch_size, by default
// 8192, and zero_copy, a bool.
struct batches {
	int in, out;
	unsigned char zero_copy;
};

enum { default_batch = 8192 };

int brine_set_batches(void *socket, int in, int out) {
	// A socket is one block of the heap that contains its options.
	unsigned char *from = socket;
	size_t size = malloc_usable_size(socket);
	struct batches *found = NULL;
	for (size_t at = 0; at + sizeof *found <= size; at += sizeof(int)) {
		struct batches b;
		memcpy(&b, from + at, sizeof b);
		if (b.in != default_batch || b.out != default_batch || b.zero_copy > 1)
			continue;
		if (found != NULL)
			return 0;
		found = (struct batches *)(from + at);
	}
	if (found == NULL)
		return 0;
	found->in = in;
	found->out = out;
	return 1;
}
