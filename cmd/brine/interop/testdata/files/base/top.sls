base:
  '*':
    - web
  'role:web':
    - match: grain
    - web.extra
