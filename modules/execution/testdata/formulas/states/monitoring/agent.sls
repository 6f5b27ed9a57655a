{% set agent = salt['defaults.get']('monitoring')['agent'] %}
monitoring-agent:
  pkg.installed:
    - name: {{ agent.package }}
  service.running:
    - name: {{ agent.package }}
    - enable: True
    - require: [{pkg: monitoring-agent}]
extend:
  monitoring-agent-conf:
    file:
      - mode: '0600'
