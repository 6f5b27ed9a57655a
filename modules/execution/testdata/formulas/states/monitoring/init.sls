{%- set root = 'monitoring' %}
{%- import_json root ~ '/data/thresholds.json' as thresholds %}
{%- import_text 'monitoring/data/note.txt' as note %}
{%- set checks = salt['slsutil.merge'](thresholds, salt['pillar.get']('monitoring:checks', {})) %}
{%- set map = salt['slsutil.findup'](slspath, ['map.yaml', 'defaults.yaml']) %}
{%- set defaults = salt['defaults.get']('monitoring:agent', {}) %}
{%- include 'monitoring/header.jinja' %}

include:
  - monitoring.agent

monitoring-agent-conf:
  file.serialize:
    - name: /etc/agent/agent.yml
    - formatter: yaml
    - dataset: {{ {'interval': pillar.monitoring.interval, 'checks': checks, 'tags': [grains.id, saltenv, opts.id]} | tojson(sort_keys=False) if false else {'interval': pillar.monitoring.interval, 'checks': checks, 'tags': [grains.id, saltenv, opts['id']]} | json }}
    - map: {{ map }}
    - port: {{ defaults.port }}
    - note: {{ note | trim | yaml_dquote }}
    - mine: {{ salt['mine.get']('*', 'network.ip_addrs') | default({}, true) | json }}
{%- for target in pillar['monitoring']['targets'] %}
{%- if loop.index is divisibleby(2) %}{% continue %}{% endif %}

monitoring-target-{{ loop.index }}-of-{{ loop.length }}:
  test.nop:
    - name: {{ target }}
    - is_ip: {{ target | is_ipv4 }}
    - cycle: {{ loop.cycle('odd', 'even') }}
    - changed: {{ loop.changed(target[:5]) }}
{%- endfor %}
