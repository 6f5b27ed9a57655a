{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ '/map.jinja' import nginx with context %}
include:
  - .config
  - .sites
  - common

nginx_package:
  test.show_notification:
    - text: {{ nginx.package }} {{ tplroot }} {{ slspath }} {{ slsdotpath }} {{ sls_path }} {{ tplfile }}

nginx_service:
  test.succeed_with_changes:
    - name: {{ nginx.service.name }}
    - watch:
      - sls: nginx.config
    - require:
      - test: nginx_package
