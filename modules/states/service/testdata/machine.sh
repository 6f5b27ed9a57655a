# A machine that systemd has booted, as far as the trees ask: $1 is the directory with the programs.
mkdir -p /run/systemd/system /run/fake/units /usr/lib/systemd/system /etc/systemd/system
rm -rf /usr/lib/systemd/system/* /etc/systemd/system/* /etc/init.d /etc/rc?.d
mkdir -p /etc/init.d /etc/rc2.d
cp "$1/systemctl" /usr/local/sbin/systemctl
printf '#!/bin/sh\nshift; FAKE_SCOPE=1 exec "$@"\n' > /usr/local/sbin/systemd-run
printf '#!/bin/sh\necho N 2\n' > /usr/local/sbin/runlevel
printf '#!/bin/sh\necho "update-rc.d $*" >> /run/fake/log\ncase $3 in defaults) ln -s ../init.d/$2 /etc/rc2.d/S01$2;; remove) rm -f /etc/rc2.d/S01$2;; esac\n' > /usr/local/sbin/update-rc.d
chmod 755 /usr/local/sbin/*
cd /run/fake/units
mkdir up.service down.service stuck.service hangs.service broken.service unloved.service unlovedup.service boots.service both.service alias.service real.service sock.socket
touch up.service/active hangs.service/active hangs.service/stuck boots.service/enabled both.service/active both.service/enabled \
	stuck.service/stuck broken.service/broken unloved.service/unloved unlovedup.service/unloved unlovedup.service/active unlovedup.service/enabled real.service/enabled
echo real.service > alias.service/alias
for unit in *; do touch /usr/lib/systemd/system/$unit; done
printf '#!/bin/sh\nexit 0\n' > /etc/init.d/legacy; chmod 755 /etc/init.d/legacy; mkdir legacy.service
: > /run/fake/log
