{%- for name, job in salt['pillar.get']('cron', {}).items() %}
cron_{{ name }}:
  file.managed:
    - name: {{ grains.out }}-{{ grains.id }}/etc/cron.d/{{ name }}
    - makedirs: True
    - contents:
      - '# {{ name }}'
      - {{ '%s %s root %s' | format(job.minute | default('*'), job.get('hour', '*') ~ ' * * *', job.command) | yaml_dquote }}
    {%- if job.unless is defined %}
    - unless: {{ job.unless | yaml_encode }}
    {%- endif %}
{%- endfor %}

cron_present:
  cron.present:
    - name: /bin/true
    - identifier: brine
    - minute: random
    - user: root
    - onlyif: /bin/false
