base:
  '*':
    - web
    - users
  'web1':
    - db
    - monitoring
