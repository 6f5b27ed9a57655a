{%- from "web/map.jinja" import web with context %}
{%- for what in ('service', 'package', 'config') %}
web-clean-{{ loop.index }}-{{ what }}:
  {{ {'service': 'service.dead', 'package': 'pkg.removed', 'config': 'file.absent'}[what] }}:
    - name: {{ web.config_dir if what == 'config' else web[what].name if web[what] is mapping else web[what] }}
    {%- if not loop.first %}
    - require:
      - {{ {'package': 'service', 'config': 'pkg'}[what] }}: web-clean-{{ loop.index0 }}-{{ loop.previtem }}
    {%- endif %}
{%- endfor %}
