// All threads use one arena of C's allocator. Otherwise each thread of Go that sends gets an arena of its own, which keeps
// megabytes of large freed messages: 12 MB in a master that serves files. Each thread still caches small messages. The
// limit must be set before the first thread allocates, which is before main.
#ifdef __linux__
#include <features.h>
#ifdef __GLIBC__
#include <malloc.h>

__attribute__((constructor)) static void one_arena(void) { mallopt(M_ARENA_MAX, 1); }
#endif
#endif
