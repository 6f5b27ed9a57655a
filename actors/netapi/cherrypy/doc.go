// Package cherrypy serves the addresses of Salt's rest_cherrypy on net/http. It finds the resource for an
// address, checks a request in Salt's order (page override, cross-origin, session, body, address of the
// client), and contains the answers of each resource. The API of actors/netapi runs the commands. Answers to
// salt/netapi/rest_cherrypy/app.py, and to the dispatcher of CherryPy as far as clients see it.
package cherrypy
