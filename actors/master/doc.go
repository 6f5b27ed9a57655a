// Package master puts a salt-master together. Each of its parts is a package below it, which owns its state and says in
// its doc comment what that is and whom it may ask: the request port (reqserver), the answers to requests (workers),
// what users and minions may do (access), jobs, publications, the event bus, pillars, files, and so on. core.go makes
// the parts, each on those before it, configured.go and options.go give them what they need of the configuration, and
// children.go starts their actors in Salt's order under one supervisor. The package holds no byte formats (wire) and no
// rules of matching, storing or authorising (modules). Answers to salt/master.py, salt/channel/server.py and
// salt/utils/event.py (EventPublisher).
package master
