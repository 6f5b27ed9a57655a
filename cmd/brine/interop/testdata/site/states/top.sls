# Every way of naming minions that a real top file has.
{% set stage = salt['pillar.get']('stage', 'prod') %}
base:
  '*':
    - common
    - users
  'role:web':
    - match: grain
    - nginx
    - profile.web
  'm* and G@kernel:Linux and not E@^db.*':
    - match: compound
    - ssh
  'stage:{{ stage }}':
    - match: pillar
    - cron
  'webs':
    - match: nodegroup
    - app
  'm3008,m3006':
    - match: list
    - app.late
dev:
  'nobody*':
    - nginx
