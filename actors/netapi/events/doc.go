// Package events distributes the events of the master's bus to the readers of salt-api. The actor EventHub has
// one subscription to the bus for all readers. It puts each event into the ring of modules/netapi/feed, in
// which every reader has its own position. It reconnects to the bus after the master was away, and disconnects
// when there has been no reader for a while.
//
// ServeSSE and ServeWebSocket write the events after a reader's position to the client, in the forms of
// rest_cherrypy and rest_tornado. Answers to Events and WebsocketEndpoint in salt/netapi/rest_cherrypy/app.py,
// and to EventListener and the handlers of streams in salt/netapi/rest_tornado.
package events
