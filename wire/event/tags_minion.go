package event

// Tags of a minion's own bus, by which job processes and local tools talk to the minion.
const (
	TagModuleRefresh   = "module_refresh"
	TagPillarRefresh   = "pillar_refresh"
	TagBeaconsRefresh  = "beacons_refresh"
	TagMatchersRefresh = "matchers_refresh"
	TagGrainsRefresh   = "grains_refresh"
	TagManageSchedule  = "manage_schedule"
	TagManageBeacons   = "manage_beacons"
	TagSetEnv          = "environ_setenv"
	TagMine            = "_minion_mine"
	TagFireMaster      = "fire_master" // data, tag, events, pretag: an event to send to the master
	TagSaltError       = "_salt_error"
	TagScheduleSaved   = "/salt/minion/minion_schedule_saved"
	TagScheduleReturn  = "__schedule_return"
	TagBeaconsReturn   = "__beacons_return"
	TagMasterUp        = "__master_connected"
	TagMasterDown      = "__master_disconnected"
	TagMasterFailback  = "__master_failback"
	TagAuthCreds       = "salt/auth/creds"
	TagReqChannel      = "__master_req_channel_payload" // prefix: a load to send to the master
	TagReqReturn       = "__master_req_channel_return"  // prefix: the answer to it
)

// TagMinionComplete is the notice that the minion has carried out a request from its bus; what is for example
// "pillar_refresh". The leading slash is Salt's.
func TagMinionComplete(what string) string { return "/salt/minion/minion_" + what + "_complete" }
