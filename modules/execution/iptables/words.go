package iptables

import "strings"

// ofJump are options of jumps, in the order in which they are written behind all others.
var ofJump = `
j jump add-set and-mark and-tos checksum-fill clamp-mss-to-pmtu clustermac ctevents ctmask del-set ecn-tcp-remove
exist expevents gateway hash-init hashmode helper label local-node log-ip-options log-level log-prefix
log-tcp-options log-tcp-sequence log-uid map-set mask mss new nfmask nflog-group nflog-prefix nflog-range
nflog-threshold nodst notrack on-ip on-port or-mark or-tos persistent queue-balance queue-bypass queue-num random
random-fully rateest-ewmalog rateest-interval rateest-name reject-with restore restore-mark sack-perm save-mark
selctx set-class set-dscp set-dscp-class set-mark set-mss set-tos set-xmark strip-options timeout timestamp to
to-destination to-ports to-source total-nodes tproxy-mark ttl-dec ttl-inc ttl-set type ulog-cprange ulog-nlgroup
ulog-prefix ulog-qthreshold wscale xor-mark xor-tos zone zone-orig zone-reply dst-pfx hl-dec hl-inc hl-set
hmark-dport-mask hmark-dst-prefix hmark-mod hmark-offset hmark-proto-mask hmark-rnd hmark-spi-mask hmark-sport-mask
hmark-src-prefix hmark-tuple led-always-blink led-delay led-trigger-id queue-cpu-fanout src-pfx to-port addr
and-mask delude honeypot or-mask prefix reset reuse set-mac shift static tarpit tname ttl
`

// listed are the options of a saved rule that are told, in the order in which they are.
var listed = `
append delete insert replace list flush zero new-chain delete-chain policy rename-chain protocol source destination
jump goto in-interface out-interface fragment set-counters match src-type dst-type limit-iface-in limit-iface-out
ahspi ahlen ahres bytecode cgroup cluster-total-nodes cluster-local-node cluster-local-nodemask cluster-hash-seed
h-length mangle-mac-s mangle-mac-d comment connbytes connbytes-dir connbytes-mode label connlimit-upto
connlimit-above connlimit-mask connlimit-saddr connlimit-daddr mark ctstate ctproto ctorigsrc ctorigdst ctreplsrc
ctrepldst ctorigsrcport ctorigdstport ctreplsrcport ctrepldstport ctstatus ctexpire ctdir cpu source_port
destination_port dccp-types dccp-option src-group dst-group dscp dscp-class dst-len dst-opts ecn-tcp-cwr ecn-tcp-ece
ecn-ip-ect espspi fragid fraglen fragres fragfirst fragmore fraglast hashlimit-upto hashlimit-above hashlimit-burst
hashlimit-mode hashlimit-srcmask hashlimit-dstmask hashlimit-name hashlimit-htable-size hashlimit-htable-max
hashlimit-htable-expire hashlimit-htable-gcinterval hbh-len hbh-opts helper hl-eq hl-lt hl-gt icmp-type icmpv6-type
src-range dst-range soft header ipvs vproto vaddr vport vdir vmethod vportctl length limit limit-burst mac-source
mh-type source-ports destination-ports ports nfacct-name genre ttl log uid-owner gid-owner socket-exists physdev-in
physdev-out physdev-is-in physdev-is-out physdev-is-bridged pkt-type dir pol strict reqid spi proto mode tunnel-src
tunnel-dst next quota rateest rateest1 rateest2 rateest-delta rateest-bps rateest-bps1 rateest-bps2 rateest-pps
rateest-pps1 rateest-pps2 rateest-lt rateest-gt rateest-eq rateest-name rateest-interval rateest-ewma realm name set
rsource rdest mask rcheck update remove seconds reap hitcount rttl loose validmark accept-local invert rt-type
rt-segsleft rt-len rt-0-res rt-0-addrs rt-0-not-strict chunk-types match-set return-nomatch update-counters
update-subcounters packets-eq packets-lt packets-gt bytes-eq bytes-lt bytes-gt transparent nowildcard state
probability every packet algo from to string hex-string tcp-flags syn tcp-option mss datestart datestop timestart
timestop monthdays weekdays contiguous kerneltz utc localtz tos ttl-eq ttl-gt ttl-lt u32 condition mac lower-limit
upper-limit source-country destination-country enabled disabled iface dev-in dev-out up down broadcast loopback
pointtopoint running noarp arp promisc multicast dynamic lower-up dormant edk kazaa gnu dc bit apple soul winmx ares
debug flags any layer3 layer4 layer5 stealth synscan cnscan grscan psd-weight-threshold psd-delay-threshold
psd-lo-ports-weight psd-hi-ports-weight grow no-change packets knockports time autoclose checkip type checksum-fill
set-class new hashmode clustermac total-nodes local-node hash-init set-xmark save-mark restore-mark and-mark or-mark
xor-mark set-mark nfmask ctmask save restore notrack ctevents expevents zone timeout to-destination random
persistent src-pfx dst-pfx set-dscp set-dscp-class ecn-tcp-remove hl-set hl-dec hl-inc hmark-tuple hmark-mod
hmark-offset hmark-src-prefix hmark-dst-prefix hmark-sport-mask hmark-dport-mask hmark-spi-mask hmark-proto-mask
hmark-rnd led-trigger-id led-delay led-always-blink log-level log-prefix log-tcp-sequence log-tcp-options
log-ip-options log-uid to-ports nflog-group nflog-prefix nflog-range nflog-threshold queue-num queue-balance
queue-bypass queue-cpu-fanout rateest-ewmalog reject-with nodst selctx add-set del-set exist to-source set-mss
clamp-mss-to-pmtu strip-options gateway set-tos and-tos or-tos xor-tos on-port on-ip tproxy-mark ttl-set ttl-dec
ttl-inc ulog-nlgroup ulog-prefix ulog-cprange ulog-qthreshold addr tname delude tarpit set-mac prefix reuse static
and-mask or-mask shift honeypot reset
`

// short are other names of options.
var short = map[string]string{"-A": "append", "-D": "delete", "-I": "insert", "-R": "replace", "-L": "list",
	"-F": "flush", "-Z": "zero", "-N": "new-chain", "-X": "delete-chain", "-P": "policy", "-E": "rename-chain",
	"-p": "protocol", "-s": "source", "-d": "destination", "-j": "jump", "-g": "goto", "-i": "in-interface",
	"-o": "out-interface", "-f": "fragment", "-c": "set-counters", "-m": "match", "--sport": "source_port",
	"--source-port": "source_port", "--dport": "destination_port", "--destination-port": "destination_port",
	"--sports": "source-ports", "--dports": "destination-ports", "--src-cc": "source-country",
	"--dst-cc": "destination-country"}

// internal are arguments of states and of jobs that are no part of a rule, beside those that begin with two
// underscores.
var internal = strings.Fields(`
require require_any require_in watch watch_any watch_in onchanges onchanges_any onchanges_in onfail onfail_any
onfail_all onfail_in onfail_stop prereq prereq_in listen listen_in use use_in fun state check_cmd cmd_opts_exclude
failhard onlyif unless creates retry order parallel reload_modules reload_grains reload_pillar runas runas_password
no_log fire_event saltenv umask aggregate chain save table name
`)
