#!jinja|yaml
{%- from 'nginx/map.jinja' import nginx with context %}
{%- from 'common/macros.jinja' import at with context %}
{%- for name, site in nginx.sites.items() %}
  {%- set file = at(nginx.confdir ~ '/sites-available/' ~ name ~ '.conf') %}
nginx_site_{{ name }}:
  file.managed:
    - name: {{ file }}
    - makedirs: True
    - contents: |
        server {
          listen {{ site.get('port', 80) }}{{ ' ssl' if site.get('tls') else '' }};
          server_name {{ site.names | join(' ') }};
          {%- for location in site.get('locations', []) %}
          location {{ location.path }} {
            {%- for k, v in location.items() if k != 'path' %}
            {{ k }} {{ v }};
            {%- endfor %}
          }
          {%- endfor %}
        }
  {%- if site.get('enabled', True) %}

nginx_site_{{ name }}_enabled:
  file.symlink:
    - name: {{ at(nginx.confdir ~ '/sites-enabled/' ~ name ~ '.conf') }}
    - target: {{ file }}
    - makedirs: True
    - require:
      - file: nginx_site_{{ name }}
  {%- endif %}
{%- endfor %}
