base:
  '*':
    - common
    - web
    - users
  'G@id:web1 and not E@^db[0-9]+$':
    - match: compound
    - db
  'web[0-9]*':
    - monitoring
