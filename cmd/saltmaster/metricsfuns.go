package saltmaster

import (
	"strings"

	"brine/cmd/tool"
	"brine/modules/execution"
)

// commonFunctions are functions of Salt's minions that brine itself may not have and that fleets use every day. A
// metric tells them apart; every other name, whoever has made it up, is one label.
const commonFunctions = `
archive.tar archive.unzip at.at cmd.exec_code cmd.retcode cmd.run cmd.run_all cmd.run_stderr cmd.run_stdout cmd.script cmd.shell cmd.which
cp.cache_file cp.get_dir cp.get_file cp.get_file_str cp.get_template cp.get_url cp.list_master cron.list_tab cron.ls cron.rm cron.set_job
disk.usage dockercompose.up event.fire event.send file.append file.chown file.copy file.directory_exists file.file_exists file.find
file.grep file.managed file.read file.remove file.replace file.search file.stats file.touch file.write git.clone git.pull
grains.append grains.get grains.item grains.items grains.ls grains.setval group.add hosts.add_host ip.get_interface iptables.append
mine.get mine.send mine.update mount.active network.interfaces network.ip_addrs network.ping pillar.get pillar.item pillar.items
pip.install pkg.available_version pkg.hold pkg.install pkg.latest_version pkg.list_pkgs pkg.list_upgrades pkg.purge pkg.refresh_db
pkg.remove pkg.upgrade pkg.version ps.top publish.publish reg.read_value saltutil.find_job saltutil.kill_job saltutil.refresh_grains
saltutil.refresh_pillar saltutil.running saltutil.sync_all saltutil.sync_grains saltutil.sync_modules schedule.list service.disable
service.enable service.get_all service.reload service.restart service.start service.status service.stop ssh.set_auth_key state.apply
state.highstate state.show_highstate state.show_sls state.single state.sls state.test status.all_status status.cpuinfo status.diskusage
status.loadavg status.meminfo status.procs status.uptime sysctl.get sysctl.persist system.reboot system.shutdown systemd.daemon_reload
test.arg test.echo test.ping test.rand_sleep test.sleep test.version test.versions tls.create_ca user.add user.delete user.info user.list_users
`

// knownFunctions are the functions that have a label of their own in metrics.
func knownFunctions() ([]string, error) {
	reg := execution.Machine{Version: tool.SaltVersion}.Functions()
	return append(reg.Names(), strings.Fields(commonFunctions)...), nil
}
