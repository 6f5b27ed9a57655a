#include <stddef.h>

// brine_send_lent sends a message of three parts, without waiting: the identity of a peer, nothing, and a text that stays where it is. *out is 1 from
// then on and 0 when libzmq needs the text no more, at once if it cannot be sent. It returns 0, or the error of libzmq.
int brine_send_lent(void *socket, const void *peer, size_t peer_len, void *text, size_t len, int *out);
