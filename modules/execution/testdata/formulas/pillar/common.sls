{%- set domain = 'example.test' %}
common:
  domain: {{ domain }}
  fqdn: {{ grains.id }}.{{ domain }}
  contacts:
    - ops@{{ domain }}
    - {{ grains['id'] | upper }}@{{ domain }}
