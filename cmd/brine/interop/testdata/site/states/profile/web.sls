include:
  - nginx
  - app

profile_web:
  test.nop:
    - listen:
      - file: nginx_config

profile_listener:
  test.succeed_without_changes:
    - require_any:
      - test: profile_web
      - test: never
    - prereq: []

never:
  test.nop: []
