nginx:
  sites:
    {%- for name in ['shop', 'blog'] %}
    {{ name }}:
      port: {{ 8000 + loop.index }}
      names: [{{ name }}.example.org, www.{{ name }}.example.org]
      enabled: {{ loop.first }}
      locations:
        - {path: /, proxy_pass: 'http://127.0.0.1:{{ 9000 + loop.index }}', proxy_set_header: Host $host}
        - path: '~ \.php$'
          deny: all
    {%- endfor %}
