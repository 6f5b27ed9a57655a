cron:
  backup: {minute: 17, hour: '3', command: '/usr/bin/backup --to "/srv/%d"'}
  clean: {command: find /tmp -mtime +7, unless: /bin/false}
  skipped: {command: never, unless: /bin/true}
