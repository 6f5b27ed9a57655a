// Package master is the actor tree of a salt-master: Publisher, EventPublisher, Maintenance, JobStore and
// ReqServer with its MWorkers, started by master.go in Salt's order under one supervisor. What a worker can
// be asked stands in two command tables, clear.go and aes.go; a command in neither does not exist. The
// package holds no byte formats (wire) and no rules of matching, storing or authorising (modules). Answers to
// salt/master.py, salt/channel/server.py and salt/utils/event.py (EventPublisher).
package master
