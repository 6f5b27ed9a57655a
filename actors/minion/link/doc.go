// Package link is the connection of a minion to one master: the session and its renewal (Authenticator), the
// publications that come (Subscriber), the requests that go out, and the sockets under both (Transport). It owns the
// sign-in state and outlives the restarts of its actors. It decides nothing about jobs and returns: it hands
// publications to Options.Deliver, asks Options.Pillar for the pillar without which no job is taken, and carries out
// requests for the ReturnSender. Of the other parts it asks only the meter. Answers to salt/minion.py and
// salt/channel/client.py.
package link
