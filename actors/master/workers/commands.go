package workers

import (
	"maps"
	"slices"

	"brine/wire/payload"
)

// handler answers one command. An error is told to the peer as Salt tells a failed handler; errLater means
// that the handler has passed the request on.
type handler func(d *Handlers, r *call) (any, error)

// clearCommands are the unencrypted commands of the command line and of API clients
// (salt/master.py, ClearFuncs.expose_methods). The sign-in is answered before.
var clearCommands = map[string]handler{
	payload.CmdPing:     onConsole((*console).ping),
	payload.CmdPublish:  onConsole((*console).publish),
	payload.CmdGetToken: onConsole((*console).getToken),
	payload.CmdMkToken:  onConsole((*console).mkToken),
	payload.CmdRunner:   onConsole((*console).runner),
	payload.CmdWheel:    onConsole((*console).callWheel),
}

// aesCommands are the encrypted commands of minions (salt/master.py, AESFuncs.expose_methods). 3008 has
// exactly these; verify_minion is in its list but cannot be called.
var aesCommands = map[string]handler{
	payload.CmdReturn:            onReturns((*returnHandler).storeReturn),
	payload.CmdSyndicReturn:      onReturns((*returnHandler).syndicReturn),
	payload.CmdMinionEvent:       onEvents((*eventHandler).minionEvent),
	payload.CmdPillar:            onData((*dataHandler).pillar),
	payload.CmdRegisterResources: onData((*dataHandler).registerResources),
	payload.CmdMine:              onData((*dataHandler).mineStore),
	payload.CmdMineGet:           onData((*dataHandler).mineGet),
	payload.CmdMineDelete:        onData((*dataHandler).mineDelete),
	payload.CmdMineFlush:         onData((*dataHandler).mineFlush),
	payload.CmdFileRecv:          onData((*dataHandler).fileRecv),
	payload.CmdFileEnvs:          onFiles((*fileHandler).answer),
	payload.CmdFileList:          onFiles((*fileHandler).answer),
	payload.CmdFileListEmptyDirs: onFiles((*fileHandler).answer),
	payload.CmdDirList:           onFiles((*fileHandler).answer),
	payload.CmdSymlinkList:       onFiles((*fileHandler).answer),
	payload.CmdFileFind:          onFiles((*fileHandler).answer),
	payload.CmdFileHash:          onFiles((*fileHandler).answer),
	payload.CmdFileHashAndStat:   onFiles((*fileHandler).answer),
	payload.CmdServeFile:         onFiles((*fileHandler).answer),
	payload.CmdMasterOpts:        onFiles((*fileHandler).masterOpts),
	payload.CmdMasterTops:        onData((*dataHandler).masterTops),
	payload.CmdMinionRunner:      onPeers((*peerHandler).minionRunner),
	payload.CmdMinionPub:         onPeers((*peerHandler).minionPub),
	payload.CmdMinionPublish:     onPeers((*peerHandler).minionPublish),
	payload.CmdPubRet:            onPeers((*peerHandler).pubRet),
	payload.CmdRevokeAuth:        onData((*dataHandler).revokeAuth),
	payload.CmdVerifyMinion:      onData((*dataHandler).emptyText),
	payload.CmdBrineFacts:        onReturns((*returnHandler).minionFacts), // not Salt's
}

// IsCommand tells whether a command is in one of the tables.
func IsCommand(cmd string) bool { return aesCommands[cmd] != nil || clearCommands[cmd] != nil }

// CommandNames are the commands of one of the tables, in order.
func CommandNames(clear bool) []string {
	table := aesCommands
	if clear {
		table = clearCommands
	}
	return slices.Sorted(maps.Keys(table))
}

func onConsole(f func(*console, *call) (any, error)) handler {
	return func(d *Handlers, r *call) (any, error) { return f(d.console, r) }
}

func onReturns(f func(*returnHandler, *call) (any, error)) handler {
	return func(d *Handlers, r *call) (any, error) { return f(d.returns, r) }
}

func onEvents(f func(*eventHandler, *call) (any, error)) handler {
	return func(d *Handlers, r *call) (any, error) { return f(d.events, r) }
}

func onData(f func(*dataHandler, *call) (any, error)) handler {
	return func(d *Handlers, r *call) (any, error) { return f(d.data, r) }
}

func onFiles(f func(*fileHandler, *call) (any, error)) handler {
	return func(d *Handlers, r *call) (any, error) { return f(d.files, r) }
}

func onPeers(f func(*peerHandler, *call) (any, error)) handler {
	return func(d *Handlers, r *call) (any, error) { return f(d.peers, r) }
}
