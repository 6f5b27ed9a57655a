// Package cherrypy serves the addresses of Salt's rest_cherrypy on net/http: which resource an address means, in which
// order a request is checked (page override, cross-origin, session, body, address of the client), and what each
// resource answers. It runs nothing itself: that is the API of actors/netapi. Answers to
// salt/netapi/rest_cherrypy/app.py, and to the dispatcher of CherryPy as far as clients see it.
package cherrypy
