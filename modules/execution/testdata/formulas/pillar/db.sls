db:
  version: 15
  settings:
    shared_buffers: 128MB
    max_connections: 100
    log_line_prefix: '%m [%p] %q%u@%d '
    jit: off
  roles:
    app: {password: "p@ss: 'word' #1", createdb: no, superuser: no}
    ro: {password: null, login: yes}
  databases:
    app: {owner: app, extensions: {uuid-ossp: {schema: public}, hstore: {}}}
    stats: {owner: ro, encoding: UTF8}
  acls:
    - [local, all, postgres, peer]
    - [host, app, app, 10.0.0.0/8, scram-sha-256]
