package auth

import "brine/wire/payload"

// tokenCommands are the commands that releases of protocol version 2 answer only with a token
// (salt/master.py, AESFuncs.__verify_load).
var tokenCommands = map[string]bool{
	payload.CmdMinionEvent:   true,
	payload.CmdMine:          true,
	payload.CmdMineGet:       true,
	payload.CmdMineDelete:    true,
	payload.CmdMineFlush:     true,
	payload.CmdFileRecv:      true,
	payload.CmdMasterTops:    true,
	payload.CmdExtNodes:      true,
	payload.CmdMinionRunner:  true,
	payload.CmdMinionPub:     true,
	payload.CmdMinionPublish: true,
	payload.CmdPubRet:        true,
	payload.CmdRevokeAuth:    true,
}
