package payload

// Values of the field "enc" of an envelope.
const (
	EncClear = "clear"
	EncAES   = "aes"
)

// Commands of clear requests: of the command line and API clients, and the sign-in (salt/master.py,
// ClearFuncs.expose_methods; salt/channel/server.py for _auth).
const (
	CmdAuth     = "_auth"
	CmdPing     = "ping"
	CmdPublish  = "publish"
	CmdGetToken = "get_token"
	CmdMkToken  = "mk_token"
	CmdWheel    = "wheel"
	CmdRunner   = "runner"
)

// Commands of sealed requests, sent by minions and syndics (salt/master.py, AESFuncs.expose_methods).
const (
	CmdReturn            = "_return"
	CmdSyndicReturn      = "_syndic_return"
	CmdMinionEvent       = "_minion_event"
	CmdHandleMinionEvent = "_handle_minion_event" // old releases only
	CmdPillar            = "_pillar"
	CmdRegisterResources = "_register_resources" // 3008
	CmdMine              = "_mine"
	CmdMineGet           = "_mine_get"
	CmdMineDelete        = "_mine_delete"
	CmdMineFlush         = "_mine_flush"
	CmdFileRecv          = "_file_recv"
	CmdFileEnvs          = "_file_envs"
	CmdFileList          = "_file_list"
	CmdFileListEmptyDirs = "_file_list_emptydirs"
	CmdDirList           = "_dir_list"
	CmdSymlinkList       = "_symlink_list"
	CmdFileFind          = "_file_find"
	CmdFileHash          = "_file_hash"
	CmdFileHashAndStat   = "_file_hash_and_stat"
	CmdServeFile         = "_serve_file"
	CmdMasterOpts        = "_master_opts"
	CmdMasterTops        = "_master_tops"
	CmdExtNodes          = "_ext_nodes" // 3006.0 to 3006.11 only
	CmdMinionRunner      = "minion_runner"
	CmdMinionPub         = "minion_pub"
	CmdMinionPublish     = "minion_publish"
	CmdPubRet            = "pub_ret"
	CmdRevokeAuth        = "revoke_auth"
	CmdVerifyMinion      = "verify_minion"
	CmdBrineFacts        = "_brine_facts" // not Salt's: facts about jobs that a brine minion sends to a brine master
)

// Texts that a master sends in clear instead of a reply (salt/channel/server.py).
const (
	// TextBadLoad refuses a request; a minion then signs in again. For bytes that are not msgpack the reply is a map
	// with this text under "msg".
	TextBadLoad = "bad load"
	// TextNotDict answers a load that is not a map.
	TextNotDict = "payload and load must be a dict"
	// TextNullByte answers a load whose id contains a NUL.
	TextNullByte = "bad load: id contains a null byte"
	// TextIDNotString answers a numeric id; %v is the id.
	TextIDNotString = "bad load: id %v is not a string"
	// TextHandlerFailed answers a clear request, or a sealed one without a command, whose handler failed.
	TextHandlerFailed = "Some exception handling minion payload"
	// TextServerSide answers a request whose handler gave a reply of an unknown kind.
	TextServerSide = "Server-side exception handling payload"
)
