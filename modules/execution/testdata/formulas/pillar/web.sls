{% import_yaml 'data/ports.yaml' as ports %}
web:
  lookup:
    workers: 4
    listen: {{ ports.web.http }}
  server:
    config:
      keepalive_timeout: 65
      gzip: 'on'
      log_format:
        - main '$remote_addr - $request'
        - short '$request'
  vhosts:
    {%- for n in range(1, 4) %}
    site{{ n }}:
      enabled: {{ n is odd }}
      port: {{ ports.web.http + n }}
      root: /srv/www/site{{ n }}
      aliases: [{% for a in ['a', 'b'] %}{{ a }}{{ n }}.{{ grains.id }}{% if not loop.last %}, {% endif %}{% endfor %}]
      locations:
        - path: /
          proxy_pass: http://127.0.0.1:{{ 9000 + n }}
        - path: "~ \\.php$"
          deny: all
    {%- endfor %}
  tofs:
    path_prefix: web
    source_files:
      web-config: [web.conf.jinja]
