package auth

import "brine/wire/payload"

// tokenCommands are the commands that releases of protocol version 2 answer only if they have a token (salt/master.py,
// AESFuncs.__verify_load).
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

	payload.CmdRegisterResources: true, // only releases of version 3 know it
	payload.CmdBrineFacts:        true, // the same
}

// fileCommands are the commands of version 2 that old minions send without id and signature: their masters pass every
// field on to the file server, which fails at extra ones (salt/fileserver/__init__.py, Fileserver.file_envs).
var fileCommands = map[string]bool{
	payload.CmdFileEnvs:          true,
	payload.CmdFileList:          true,
	payload.CmdFileListEmptyDirs: true,
	payload.CmdDirList:           true,
	payload.CmdSymlinkList:       true,
	payload.CmdFileFind:          true,
	payload.CmdFileHash:          true,
	payload.CmdFileHashAndStat:   true,
	payload.CmdServeFile:         true,
	payload.CmdMasterOpts:        true,
}
