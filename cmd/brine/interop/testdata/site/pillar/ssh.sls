ssh:
  port: 2222
  options: {X11Forwarding: 'no', Subsystem: sftp /usr/lib/openssh/sftp-server, MaxSessions: 5}
  host_key: |
    -----BEGIN KEY-----
    {{ 'not a key' | base64_encode }}
    -----END KEY-----
