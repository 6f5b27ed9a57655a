{%- from "web/map.jinja" import web with context %}

web-package-install:
  pkg.installed:
    - name: {{ web.package }}
    {%- if web.modules %}
    - pkgs:
      - {{ web.package }}
      {%- for m in web.modules | sort %}
      - libnginx-mod-{{ m }}
      {%- endfor %}
    {%- endif %}
