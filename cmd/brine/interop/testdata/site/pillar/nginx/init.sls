include:
  - .sites
nginx:
  server:
    worker_processes: 4
    http: {include: [extra/*.conf], gzip: 'on'}
