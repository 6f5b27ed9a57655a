#include <stddef.h>

// brine_send_lent sends a message of three parts without waiting: the identity of a peer, an empty part, and a text that
// is not copied. *out is 1 while libzmq needs the text, and then 0; it is 0 at once if the text cannot be sent. The
// function returns 0, or the error number of libzmq.
int brine_send_lent(void *socket, const void *peer, size_t peer_len, void *text, size_t len, int *out);
