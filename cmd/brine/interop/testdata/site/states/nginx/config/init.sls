{%- from 'nginx/map.jinja' import nginx with context %}
{%- from 'nginx/libtofs.jinja' import files_switch with context %}
{%- from 'common/macros.jinja' import at with context %}
include:
  - .clean

nginx_config:
  file.managed:
    - name: {{ at(nginx.confdir ~ '/nginx.conf') }}
    - source: {{ files_switch(['nginx.conf.jinja'], 'nginx-config') }}
    - template: jinja
    - makedirs: True
    - mode: '0640'
    - context:
        nginx: {{ nginx | json }}
    - check_cmd: grep -q worker_processes

nginx_mime:
  file.managed:
    - name: {{ at(nginx.confdir ~ '/mime.types') }}
    - source: salt://nginx/files/default/mime.types
    - source_hash: salt://nginx/files/default/mime.types.sha256
    - makedirs: True
    - keep_source: False
