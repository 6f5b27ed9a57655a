package bench

// better tells in which direction a row improves.
type better int

const (
	lower  better = iota
	higher        // rates
)

// Row is one line of the table. The target is met if the median is not beyond Limit. With Times, Limit is a
// factor of the better result among the others.
type Row struct {
	Key    string
	Title  string
	Unit   string // ms, 1/s, MB, or "" for ratios and counts
	Limit  float64
	Times  bool
	higher better
	noGoal bool // shown for information, without a target
}

// These are the keys of the rows.
const (
	rowPing3       = "ping3"
	rowCall        = "call"
	rowKeys        = "keys"
	rowVersion     = "version"
	rowWarm        = "warm"
	rowRate        = "rate"
	rowPublish10   = "publish10"
	rowPublish10k  = "publish10k"
	rowPublishCPU  = "publish-ratio"
	rowReturns     = "returns"
	rowSignIns     = "sign-ins"
	rowFleet       = "fleet"
	rowMissing     = "missing"
	rowRestart     = "restart"
	rowStart       = "start"
	rowStopMaster  = "stop-master"
	rowStopMinion  = "stop-minion"
	rowIdleMaster  = "rss-master"
	rowIdleMinion  = "rss-minion"
	rowFullMaster  = "rss-fleet"
	rowIdleMasterP = "pss-master"
	rowIdleMinionP = "pss-minion"
	rowFullMasterP = "pss-fleet"
	rowWorked      = "rss-worked"
	rowMany        = "many"
	rowManyStatic  = "many-static"
	rowManyMissing = "many-missing"
	rowManyMaster  = "rss-many"
	rowManyMasterP = "pss-many"
	rowManyPeak    = "peak-many"
	rowLarge       = "large-file"
	rowLargeMaster = "large-master"
	rowLargeMinion = "large-minion"
	rowSmall       = "small-files"
	rowAPIPing     = "api-ping"
	rowAPIRate1    = "api-rate1"
	rowAPIRate     = "api-rate"
	rowAPIUp       = "api-up"
	rowAPIUpRate   = "api-up-rate"
	rowAPIIdle     = "rss-api"
	rowAPIIdleP    = "pss-api"
	rowAPIWorked   = "rss-api-worked"
	rowStreamLag   = "api-stream"
	rowStreamLost  = "api-stream-lost"
	rowStreamKB    = "api-stream-kb"

	rowAPICrowd        = "api-crowd"
	rowAPICrowdEvents  = "api-crowd-events"
	rowAPICrowdLost    = "api-crowd-lost"
	rowAPICrowdPeak    = "peak-api-crowd"
	rowAPICrowdPSS     = "pss-api-crowd"
	rowAPICrowdMaster  = "peak-master-crowd"
	rowAPICrowdMasterP = "pss-master-crowd"
)

// rows lists the table from top to bottom, with the targets for two cores.
func rows() []Row {
	return []Row{
		{Key: rowPing3, Title: "salt '*' test.ping, 3 minions", Unit: "ms", Limit: 30},
		{Key: rowCall, Title: "salt-call --local test.ping", Unit: "ms", Limit: 25},
		{Key: rowKeys, Title: "salt-key -L", Unit: "ms", Limit: 15},
		{Key: rowVersion, Title: "salt --version", Unit: "ms", Limit: 8},
		{Key: rowWarm, Title: "warm job, publish to return", Unit: "ms", Limit: 2},
		{Key: rowRate, Title: "jobs/s to one minion, 60 at once", Unit: "1/s", Limit: 1500, higher: higher},
		{Key: rowPublish10, Title: "signed publish, 10 keys, CPU", Unit: "ms", noGoal: true},
		{Key: rowPublish10k, Title: "signed publish, 10,000 keys, CPU", Unit: "ms", noGoal: true},
		{Key: rowPublishCPU, Title: "  10,000 keys against 10", Limit: 1.2},
		{Key: rowReturns, Title: "returns/s into the master", Unit: "1/s", Limit: 10000, higher: higher},
		{Key: rowSignIns, Title: "sign-ins/s of known ids", Unit: "1/s", Limit: 2, Times: true, higher: higher},
		{Key: rowFleet, Title: "emulated fleet, last return", Unit: "ms", Limit: 200},
		{Key: rowMissing, Title: "  returns missing, per job", Limit: 0},
		{Key: rowRestart, Title: "  first job after a master restart", Unit: "ms", Limit: 1500},
		{Key: rowStart, Title: "master start to first answer", Unit: "ms", Limit: 100},
		{Key: rowStopMaster, Title: "master SIGTERM to end, idle", Unit: "ms", Limit: 200},
		{Key: rowStopMinion, Title: "minion SIGTERM to end, idle", Unit: "ms", Limit: 200},
		{Key: rowIdleMaster, Title: "idle master, resident", Unit: "MB", Limit: 30},
		{Key: rowIdleMasterP, Title: "  proportional", Unit: "MB", noGoal: true},
		{Key: rowIdleMinion, Title: "idle minion, resident", Unit: "MB", Limit: 15},
		{Key: rowIdleMinionP, Title: "  proportional", Unit: "MB", noGoal: true},
		{Key: rowFullMaster, Title: "master with the fleet, resident", Unit: "MB", Limit: 60},
		{Key: rowFullMasterP, Title: "  proportional", Unit: "MB", noGoal: true},
		{Key: rowWorked, Title: "  resident after the fleet's rows", Unit: "MB", noGoal: true},
		{Key: rowMany, Title: "salt '*' test.ping, 10,000 emulated", Unit: "ms", Limit: 3000},
		{Key: rowManyStatic, Title: "  --static", Unit: "ms", Limit: 3000},
		{Key: rowManyMissing, Title: "  returns missing, per job", Limit: 0},
		{Key: rowManyMaster, Title: "  master after 20 jobs, resident", Unit: "MB", Limit: 200},
		{Key: rowManyMasterP, Title: "  proportional", Unit: "MB", noGoal: true},
		{Key: rowManyPeak, Title: "  at most since its start", Unit: "MB", Limit: 200},
		{Key: rowLarge, Title: "1 GB to each of 3 minions (quick: 64 MB)", Unit: "MB/s", Limit: 5, Times: true,
			higher: higher},
		{Key: rowLargeMaster, Title: "  master over its rest, at most", Unit: "MB", Limit: 20},
		{Key: rowLargeMinion, Title: "  a minion over its rest, at most", Unit: "MB", Limit: 20},
		{Key: rowSmall, Title: "10,000 files listed and cached (1,000)", Unit: "ms", noGoal: true},
		{Key: rowAPIPing, Title: "POST /run local test.ping", Unit: "ms", Limit: 5},
		{Key: rowAPIRate1, Title: "  one client", Unit: "1/s", noGoal: true, higher: higher},
		{Key: rowAPIRate, Title: "  32 clients", Unit: "1/s", Limit: 20, Times: true, higher: higher},
		{Key: rowAPIUp, Title: "POST /run runner manage.up", Unit: "ms", Limit: 5},
		{Key: rowAPIUpRate, Title: "  32 clients", Unit: "1/s", Limit: 20, Times: true, higher: higher},
		{Key: rowAPIIdle, Title: "idle salt-api, resident", Unit: "MB", Limit: 20},
		{Key: rowAPIIdleP, Title: "  proportional", Unit: "MB", noGoal: true},
		{Key: rowAPIWorked, Title: "  resident after the calls", Unit: "MB", noGoal: true},
		{Key: rowStreamLag, Title: "2,000 event streams (500), the latest", Unit: "ms", Limit: 1000},
		{Key: rowStreamLost, Title: "  events missing, of all", Limit: 0},
		{Key: rowStreamKB, Title: "  memory of one", Unit: "KB", Limit: 60},
		{Key: rowAPICrowd, Title: "1,000 minions, 2,000 streams (200), jobs", Unit: "1/s", noGoal: true,
			higher: higher},
		{Key: rowAPICrowdEvents, Title: "  returns delivered", Unit: "1/s", noGoal: true, higher: higher},
		{Key: rowAPICrowdLost, Title: "  returns missing, of all", Limit: 0},
		{Key: rowAPICrowdPeak, Title: "  salt-api, at most", Unit: "MB", noGoal: true},
		{Key: rowAPICrowdPSS, Title: "  proportional", Unit: "MB", noGoal: true},
		{Key: rowAPICrowdMaster, Title: "  master, at most", Unit: "MB", noGoal: true},
		{Key: rowAPICrowdMasterP, Title: "  proportional", Unit: "MB", noGoal: true},
	}
}

// groups lists rows that share a site, in the order of measuring.
func groups() []group {
	return []group{
		{"life", []string{rowStart, rowStopMaster}, (*turn).life},
		{"three", []string{rowPing3, rowCall, rowKeys, rowVersion, rowWarm, rowRate, rowStopMinion,
			rowIdleMaster, rowIdleMasterP, rowIdleMinion, rowIdleMinionP}, (*turn).three},
		{"publish", []string{rowPublish10, rowPublish10k, rowPublishCPU}, (*turn).signed},
		{"fleet", []string{rowFleet, rowMissing, rowRestart, rowReturns, rowSignIns, rowFullMaster, rowFullMasterP,
			rowWorked}, (*turn).fleet},
		{"many", []string{rowMany, rowManyStatic, rowManyMissing, rowManyMaster, rowManyMasterP, rowManyPeak},
			(*turn).many},
		{"served", []string{rowLarge, rowLargeMaster, rowLargeMinion, rowSmall}, (*turn).served},
		{"api", []string{rowAPIPing, rowAPIRate1, rowAPIRate, rowAPIUp, rowAPIUpRate, rowAPIIdle, rowAPIIdleP,
			rowAPIWorked, rowStreamLag, rowStreamLost, rowStreamKB}, (*turn).api},
		{"api-crowd", []string{rowAPICrowd, rowAPICrowdEvents, rowAPICrowdLost, rowAPICrowdPeak, rowAPICrowdPSS,
			rowAPICrowdMaster, rowAPICrowdMasterP}, (*turn).apiCrowd},
	}
}
