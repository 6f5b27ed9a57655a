users:
  root_shell: /bin/bash
  list:
    anna:
      fullname: Anna "the Ops" O'Neil
      uid: 2001
      groups: [wheel, docker]
      sudo: true
      sudo_rules: ['ALL=(ALL) NOPASSWD:ALL', 'ALL=(postgres) /usr/bin/psql']
      ssh_auth: ['ssh-ed25519 AAAAC3Nz anna@home', 'ssh-rsa AAAAB3Nz anna@work']
      home: {mode: '0700', create: yes}
    bob:
      fullname: Bob
      uid: 2002
      shell: /bin/zsh
      expire: 2030-01-31
      env: {PATH: '/opt/bin:$PATH', EDITOR: vi}
    carol: {absent: True}
    dave: {}
  groups:
    docker: {gid: 998, system: on}
    wheel: ~
