// Package events hands the events of the master's bus to the readers of salt-api. The actor EventHub has one
// subscription to the bus, however many readers there are, and puts each event into the ring of modules/netapi/feed, of
// which every reader has a place. It joins the bus again when the master was away, and leaves it when nobody has read
// for a while.
//
// ServeSSE and ServeWebSocket write to a client what its place in the ring shows, in the forms of rest_cherrypy and
// rest_tornado. Answers to Events and WebsocketEndpoint in salt/netapi/rest_cherrypy/app.py, and to EventListener and
// the handlers of streams in salt/netapi/rest_tornado.
package events
