#!jinja|yaml
{% set versions = {} %}
{% for name in ['api', 'worker'] %}{% do versions.update({name: salt['inventory.version'](name)}) %}{% endfor %}
app_state:
  inventory.listed:
    - name: {{ versions | tojson | yaml_squote }}
    - wanted: {{ salt['inventory.hosts']() | json }}

app_secret:
  file.managed:
    - name: {{ grains['out'] }}-{{ grains['id'] }}/app/secret
    - contents_pillar: secrets:database:password
    - makedirs: True
    - mode: '0400'

app_ini:
  file.managed:
    - name: {{ grains['out'] }}-{{ grains['id'] }}/app/app.ini
    - source: salt://app/templates/app.ini.jinja
    - template: jinja
    - makedirs: True
    - context: {versions: {{ versions }}}

app_accumulated:
  file.accumulated:
    - filename: {{ grains['out'] }}-{{ grains['id'] }}/app/app.ini
    - text: [one, two]
    - require_in:
      - file: app_ini

app_grown:
  test.check_pillar:
    - present: [stage, users]
    - integer: [ssh:port]

extend:
  app_secret:
    file:
      - require: [{test: app_grown}]
