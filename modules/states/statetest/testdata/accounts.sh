# The accounts of a machine for trees that have /etc and /home for themselves.
umask 022
cat > /etc/passwd <<'END'
root:x:0:0:root:/root:/bin/bash
daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
ann:x:1000:1000:Ann Other,12,555,666,more, words:/home/ann:/bin/bash
old:x:1001:1001::/srv/old:/bin/sh
END
cat > /etc/shadow <<'END'
root:*:19000:0:99999:7:::
daemon:*:19000:0:99999:7:::
nobody:*:19000:0:99999:7:::
ann:$6$salt$hashofann:19000:0:99999:7:::
old:!:19000:1:60:5:3:19999:
END
cat > /etc/group <<'END'
root:x:0:
daemon:x:1:
shadow:x:42:
adm:x:4:ann
ann:x:1000:
old:x:1001:
users:x:100:
dev:x:2000:ann,old
ops:x:2001:
nogroup:x:65534:
END
cat > /etc/gshadow <<'END'
root:*::
daemon:*::
shadow:*::
adm:*::ann
ann:!::
old:!::
users:*::
dev:!::ann,old
ops:!::
nogroup:*::
END
chmod 640 /etc/shadow /etc/gshadow
chgrp 42 /etc/shadow /etc/gshadow
printf 'passwd: files\ngroup: files\nshadow: files\ngshadow: files\n' > /etc/nsswitch.conf
printf 'SHELL=/bin/sh\n' > /etc/default/useradd
printf 'UID_MIN 1000\nUID_MAX 60000\nGID_MIN 1000\nGID_MAX 60000\nSYS_UID_MIN 100\nSYS_UID_MAX 999\nSYS_GID_MIN 100\nSYS_GID_MAX 999\nUSERGROUPS_ENAB yes\nUMASK 022\nPASS_MAX_DAYS 99999\nPASS_MIN_DAYS 0\nPASS_WARN_AGE 7\nENCRYPT_METHOD SHA512\nMAIL_DIR /var/mail\nCREATE_HOME no\n' > /etc/login.defs
rm -rf /etc/skel /etc/subuid /etc/subgid; mkdir /etc/skel; echo skel > /etc/skel/.profile
mkdir -p /home/ann; chown 1000:1000 /home/ann

