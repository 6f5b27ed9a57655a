#include "lent.h"

#include <errno.h>
#include <zmq.h>

// back says that libzmq no longer needs a text. libzmq's thread calls it when the text was sent or its peer has gone.
static void back(void *text, void *out) {
	(void)text;
	__atomic_store_n((int *)out, 0, __ATOMIC_RELEASE);
}

static int send_part(void *socket, const void *part, size_t len) {
	int n;
	do
		n = zmq_send(socket, part, len, ZMQ_DONTWAIT | ZMQ_SNDMORE);
	while (n < 0 && zmq_errno() == EINTR);
	return n < 0 ? zmq_errno() : 0;
}

int brine_send_lent(void *socket, const void *peer, size_t peer_len, void *text, size_t len, int *out) {
	zmq_msg_t msg;
	int n, err = send_part(socket, peer, peer_len);
	if (err == 0)
		err = send_part(socket, "", 0);
	if (err != 0)
		return err;
	__atomic_store_n(out, 1, __ATOMIC_RELEASE);
	if (zmq_msg_init_data(&msg, text, len, back, out) != 0) {
		err = zmq_errno();
		back(text, out);
		return err;
	}
	do
		n = zmq_msg_send(&msg, socket, ZMQ_DONTWAIT);
	while (n < 0 && zmq_errno() == EINTR);
	if (n < 0) {
		err = zmq_errno();
		zmq_msg_close(&msg); // libzmq calls back()
	}
	return err;
}
