// All threads take C's memory from one place. Else each thread of Go that sends comes by one of its own, which keeps megabytes of
// large messages that have gone: 12 MB of a master that serves files. Each thread keeps what small messages take all the same. It
// must be said before the first thread takes any, which is before main.
#ifdef __linux__
#include <features.h>
#ifdef __GLIBC__
#include <malloc.h>

__attribute__((constructor)) static void one_arena(void) { mallopt(M_ARENA_MAX, 1); }
#endif
#endif
