{%- from 'common/macros.jinja' import note, at with context %}
{%- import_json 'common/facts.json' as facts %}
{%- import_text 'common/motd.txt' as motd %}
{{ note('common', 'release ' ~ facts.release) }}

common_root:
  file.directory:
    - name: {{ at('') }}
    - makedirs: True
    - mode: '0755'

common_motd:
  file.managed:
    - name: {{ at('etc/motd') }}
    - makedirs: True
    - contents: {{ motd | yaml_encode }}
    - require:
      - file: common_root

common_facts:
  file.serialize:
    - name: {{ at('etc/facts.json') }}
    - dataset: {{ facts | json }}
    - serializer: json
    - makedirs: True

common_hosts:
  file.managed:
    - name: {{ at('etc/hosts') }}
    - template: jinja
    - source: salt://common/hosts.jinja
    - defaults: {own: {{ grains.id }}}
    - context:
        hosts: {{ salt['pillar.get']('hosts', {}) | tojson }}

common_hosts_line:
  file.replace:
    - name: {{ at('etc/hosts') }}
    - pattern: '^# managed by .*$'
    - repl: '# managed by salt, {{ salt['test.echo']('really') }}'
    - append_if_not_found: True
    - require: [{file: common_hosts}]

common_block:
  file.blockreplace:
    - name: {{ at('etc/hosts') }}
    - marker_start: '# start'
    - marker_end: '# end'
    - content: |
        {%- for name, ip in salt['pillar.get']('hosts', {}) | dictsort %}
        {{ ip }} {{ name }}
        {%- endfor %}
    - append_if_not_found: True
    - onchanges:
      - file: common_hosts
