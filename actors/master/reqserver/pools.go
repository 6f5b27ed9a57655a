package reqserver

import (
	"fmt"
	"runtime"

	"brine/actors/master/access"
	"brine/wire/payload"
)

// anyCommand is the word that makes a pool take every command no other pool names (option worker_pools).
const anyCommand = "*"

// pool is a lane of workers: requests of one pool never wait for those of another. 3008 calls it a worker pool.
type pool struct {
	name     string
	workers  int
	commands []string
}

// Pools tells which pool answers a command.
type Pools struct {
	list  []pool
	byCmd map[string]int
	rest  int // index of the pool with "*"
	Login int // index of the pool where external authentication is tried, -1: in that of the command
}

// defaultPools are brine's lanes, so that neither a storm of sign-ins or log-ins nor slow work (pillar, files,
// runners) holds up returns, events and publications. Twice as many workers as there are processors sign
// minions in: while one waits for its next request, another keeps the processor at work.
func defaultPools(workerThreads int) []pool {
	return []pool{
		{name: "auth", workers: 2*runtime.NumCPU() + 1, commands: []string{payload.CmdAuth}},
		{name: "fast", workers: workerThreads, commands: []string{anyCommand}},
		{name: "slow", workers: workerThreads, commands: []string{
			payload.CmdPillar, payload.CmdFileList, payload.CmdFileFind, payload.CmdFileHash,
			payload.CmdFileHashAndStat, payload.CmdServeFile, payload.CmdFileRecv, payload.CmdFileEnvs,
			payload.CmdFileListEmptyDirs, payload.CmdDirList, payload.CmdSymlinkList, payload.CmdMinionRunner,
			payload.CmdMinionPublish, payload.CmdRunner, payload.CmdWheel,
		}},
		{name: loginPool, workers: workerThreads, commands: []string{payload.CmdMkToken}},
	}
}

// PoolsOf makes the pools that the configuration names (worker_pools); without any, brine's lanes with so many workers
// each (worker_threads).
func PoolsOf(named *payload.Map, threads int) (*Pools, error) {
	list := defaultPools(threads)
	own := true
	if named.Len() > 0 {
		list, own = list[:0], false
		for name, v := range named.All() {
			def, _ := v.(*payload.Map)
			n, _ := def.Int("worker_count")
			p := pool{name: fmt.Sprint(name), workers: int(n)}
			for _, c := range def.List("commands") {
				p.commands = append(p.commands, fmt.Sprint(c))
			}
			list = append(list, p)
		}
	}
	ps, err := newPools(list)
	if err == nil && own {
		ps.Login = ps.byCmd[payload.CmdMkToken]
	}
	return ps, err
}

// newPools checks the list: every pool has workers, a command has one pool, exactly one pool takes the rest.
func newPools(list []pool) (*Pools, error) {
	ps := &Pools{list: list, byCmd: map[string]int{}, rest: -1, Login: -1}
	for i, p := range list {
		if p.workers < 1 {
			return nil, fmt.Errorf("worker_pools: %s: worker_count %d is below 1", p.name, p.workers)
		}
		for _, c := range p.commands {
			if _, taken := ps.byCmd[c]; taken {
				return nil, fmt.Errorf("worker_pools: command %q stands in two pools", c)
			}
			ps.byCmd[c] = i
		}
		if at, ok := ps.byCmd[anyCommand]; ok && at == i {
			ps.rest = i
		}
	}
	if ps.rest < 0 {
		return nil, fmt.Errorf("worker_pools: no pool takes %q", anyCommand)
	}
	return ps, nil
}

// Of is the pool of a command.
func (ps *Pools) Of(cmd string) int {
	if i, ok := ps.byCmd[cmd]; ok {
		return i
	}
	return ps.rest
}

// ofRequest is the pool a request starts in. The command of an encrypted load is not known yet: it starts in
// the pool of the rest, whose worker opens it and passes it on when the command belongs elsewhere.
func (ps *Pools) ofRequest(req *payload.Request) int {
	if req.Enc != payload.EncClear {
		return ps.rest
	}
	load, _ := req.Load.(*payload.Map)
	if ps.Login >= 0 && access.LogsIn(load) {
		return ps.Login
	}
	return ps.Of(payload.Command(load))
}

// Name is that of a pool.
func (ps *Pools) Name(i int) string { return ps.list[i].name }

// loginPool is the lane of log-ins by external authentication in brine's own pools: a backend may take its time, and
// strangers may ask as often as they like. What was asked for goes on in its own lane.
const loginPool = "login"

// Names are those of the pools.
func (ps *Pools) Names() []string {
	names := make([]string, len(ps.list))
	for i, p := range ps.list {
		names[i] = p.name
	}
	return names
}
