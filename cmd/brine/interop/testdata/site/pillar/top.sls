base:
  '*':
    - common
    - users
    - roles.*
  'role:web':
    - match: grain
    - nginx
    - secrets
  'm* and not G@kernel:Windows':
    - match: compound
    - ssh
  'nobody':
    - secrets.others
