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
	payload.CmdReturn:            onReturns((*returnDesk).storeReturn),
	payload.CmdSyndicReturn:      onReturns((*returnDesk).syndicReturn),
	payload.CmdMinionEvent:       onEvents((*eventDesk).minionEvent),
	payload.CmdPillar:            onData((*dataDesk).pillar),
	payload.CmdRegisterResources: onData((*dataDesk).registerResources),
	payload.CmdMine:              onData((*dataDesk).mineStore),
	payload.CmdMineGet:           onData((*dataDesk).mineGet),
	payload.CmdMineDelete:        onData((*dataDesk).mineDelete),
	payload.CmdMineFlush:         onData((*dataDesk).mineFlush),
	payload.CmdFileRecv:          onData((*dataDesk).fileRecv),
	payload.CmdFileEnvs:          onFiles((*fileDesk).answer),
	payload.CmdFileList:          onFiles((*fileDesk).answer),
	payload.CmdFileListEmptyDirs: onFiles((*fileDesk).answer),
	payload.CmdDirList:           onFiles((*fileDesk).answer),
	payload.CmdSymlinkList:       onFiles((*fileDesk).answer),
	payload.CmdFileFind:          onFiles((*fileDesk).answer),
	payload.CmdFileHash:          onFiles((*fileDesk).answer),
	payload.CmdFileHashAndStat:   onFiles((*fileDesk).answer),
	payload.CmdServeFile:         onFiles((*fileDesk).answer),
	payload.CmdMasterOpts:        onFiles((*fileDesk).masterOpts),
	payload.CmdMasterTops:        onData((*dataDesk).masterTops),
	payload.CmdMinionRunner:      onPeers((*peerDesk).minionRunner),
	payload.CmdMinionPub:         onPeers((*peerDesk).minionPub),
	payload.CmdMinionPublish:     onPeers((*peerDesk).minionPublish),
	payload.CmdPubRet:            onPeers((*peerDesk).pubRet),
	payload.CmdRevokeAuth:        onData((*dataDesk).revokeAuth),
	payload.CmdVerifyMinion:      onData((*dataDesk).emptyText),
	payload.CmdBrineFacts:        onReturns((*returnDesk).minionFacts), // not Salt's
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

func onReturns(f func(*returnDesk, *call) (any, error)) handler {
	return func(d *Handlers, r *call) (any, error) { return f(d.returns, r) }
}

func onEvents(f func(*eventDesk, *call) (any, error)) handler {
	return func(d *Handlers, r *call) (any, error) { return f(d.events, r) }
}

func onData(f func(*dataDesk, *call) (any, error)) handler {
	return func(d *Handlers, r *call) (any, error) { return f(d.data, r) }
}

func onFiles(f func(*fileDesk, *call) (any, error)) handler {
	return func(d *Handlers, r *call) (any, error) { return f(d.files, r) }
}

func onPeers(f func(*peerDesk, *call) (any, error)) handler {
	return func(d *Handlers, r *call) (any, error) { return f(d.peers, r) }
}
