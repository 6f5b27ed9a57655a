// Package master is the actor tree of a salt-master: Publisher, EventPublisher, Maintenance, JobStore and
// ReqServer with its MWorkers, started by children.go in Salt's order under one supervisor. What a worker can
// be asked stands in two command tables, in commands.go; a command in neither does not exist. It is answered at a desk
// (console, returns, events, data, peers), which has the parts of the master that it needs: who a target means, the way
// to the bus, the jobs, the gate for what minions say, and so on. core.go puts the parts together and does nothing
// else. The package holds no byte formats (wire) and no rules of matching, storing or authorising (modules). Answers to
// salt/master.py, salt/channel/server.py and salt/utils/event.py (EventPublisher).
package master
