{% from "web/map.jinja" import web with context -%}
web-service:
  service.{{ 'running' if web.service.get('enable', False) else 'dead' }}:
    - name: {{ web.service.name }}
    - enable: {{ web.service.enable }}
    - watch: [{file: web-config-file}]
