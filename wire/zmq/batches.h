// brine_set_batches sets the batch sizes of a libzmq socket and returns 1, or returns 0 and changes nothing.
int brine_set_batches(void *socket, int in, int out);
