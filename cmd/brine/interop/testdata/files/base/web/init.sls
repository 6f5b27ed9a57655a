{%- from "web/map.jinja" import web with context %}
include:
  - .extra

web_dir:
  file.directory:
    - name: {{ web.dir }}
    - makedirs: True

web_conf:
  file.managed:
    - name: {{ web.dir }}/web.conf
    - source: salt://web/files/web.conf.jinja
    - template: jinja
    - context:
        port: {{ web.port }}
    - require:
      - file: web_dir

web_confd:
  file.recurse:
    - name: {{ web.dir }}/conf.d
    - source: salt://web/files/conf.d
    - include_empty: True
    - require:
      - file: web_dir

web_script:
  cmd.script:
    - source: salt://web/files/script.sh
    - args: one two
    - onchanges:
      - file: web_conf

web_own:
  greeting.said:
    - name: hello
