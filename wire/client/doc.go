// Package client is the base of the command line and the API: it publishes jobs through the request port of a master,
// collects their returns from the master's event bus, and requests tokens, runners and wheel functions. It needs what
// Salt's own tools need: the key file in the cache directory, the sockets in the socket directory, and the request
// port.
//
// It prints nothing and knows no configuration file. Answers to salt/client/__init__.py (LocalClient), and to the
// network side of salt/runner.py, salt/wheel/__init__.py and salt/auth/__init__.py (Resolver).
package client
