{%- from 'nginx/map.jinja' import nginx with context %}
{%- from 'common/macros.jinja' import at with context %}
nginx_clean:
  file.absent:
    - names:
      - {{ at(nginx.confdir ~ '/sites-enabled/default') }}
      - {{ at(nginx.confdir ~ '/conf.d/default.conf') }}
