{%- set app = pillar.app %}
{%- macro owner(name, mode='0644') %}
    - user: {{ name }}
    - group: {{ name|lower }}
    - mode: '{{ mode }}'
{%- endmacro %}

service-0:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf0.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/0.conf
    - template: jinja
    - context:
        port: {{ app.port + 0 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App0') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-1:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf1.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/1.conf
    - template: jinja
    - context:
        port: {{ app.port + 1 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App1') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-2:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf2.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/2.conf
    - template: jinja
    - context:
        port: {{ app.port + 2 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App2') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-3:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf3.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/3.conf
    - template: jinja
    - context:
        port: {{ app.port + 3 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App3') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-4:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf4.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/4.conf
    - template: jinja
    - context:
        port: {{ app.port + 4 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App4') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-5:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf5.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/5.conf
    - template: jinja
    - context:
        port: {{ app.port + 5 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App5') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-6:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf6.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/6.conf
    - template: jinja
    - context:
        port: {{ app.port + 6 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App6') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-7:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf7.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/7.conf
    - template: jinja
    - context:
        port: {{ app.port + 7 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App0') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-8:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf8.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/8.conf
    - template: jinja
    - context:
        port: {{ app.port + 8 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App1') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-9:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf9.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/9.conf
    - template: jinja
    - context:
        port: {{ app.port + 9 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App2') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-10:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf10.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/10.conf
    - template: jinja
    - context:
        port: {{ app.port + 10 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App3') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-11:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf11.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/11.conf
    - template: jinja
    - context:
        port: {{ app.port + 11 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App4') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-12:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf12.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/12.conf
    - template: jinja
    - context:
        port: {{ app.port + 12 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App5') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-13:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf13.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/13.conf
    - template: jinja
    - context:
        port: {{ app.port + 13 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App6') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-14:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf14.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/14.conf
    - template: jinja
    - context:
        port: {{ app.port + 14 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App0') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-15:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf15.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/15.conf
    - template: jinja
    - context:
        port: {{ app.port + 15 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App1') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-16:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf16.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/16.conf
    - template: jinja
    - context:
        port: {{ app.port + 16 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App2') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-17:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf17.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/17.conf
    - template: jinja
    - context:
        port: {{ app.port + 17 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App3') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-18:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf18.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/18.conf
    - template: jinja
    - context:
        port: {{ app.port + 18 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App4') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-19:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf19.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/19.conf
    - template: jinja
    - context:
        port: {{ app.port + 19 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App5') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-20:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf20.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/20.conf
    - template: jinja
    - context:
        port: {{ app.port + 20 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App6') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-21:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf21.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/21.conf
    - template: jinja
    - context:
        port: {{ app.port + 21 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App0') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-22:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf22.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/22.conf
    - template: jinja
    - context:
        port: {{ app.port + 22 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App1') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-23:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf23.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/23.conf
    - template: jinja
    - context:
        port: {{ app.port + 23 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App2') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-24:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf24.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/24.conf
    - template: jinja
    - context:
        port: {{ app.port + 24 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App3') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-25:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf25.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/25.conf
    - template: jinja
    - context:
        port: {{ app.port + 25 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App4') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-26:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf26.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/26.conf
    - template: jinja
    - context:
        port: {{ app.port + 26 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App5') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-27:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf27.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/27.conf
    - template: jinja
    - context:
        port: {{ app.port + 27 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App6') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-28:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf28.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/28.conf
    - template: jinja
    - context:
        port: {{ app.port + 28 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App0') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-29:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf29.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/29.conf
    - template: jinja
    - context:
        port: {{ app.port + 29 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App1') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-30:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf30.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/30.conf
    - template: jinja
    - context:
        port: {{ app.port + 30 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App2') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-31:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf31.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/31.conf
    - template: jinja
    - context:
        port: {{ app.port + 31 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App3') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-32:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf32.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/32.conf
    - template: jinja
    - context:
        port: {{ app.port + 32 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App4') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-33:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf33.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/33.conf
    - template: jinja
    - context:
        port: {{ app.port + 33 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App5') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-34:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf34.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/34.conf
    - template: jinja
    - context:
        port: {{ app.port + 34 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App6') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-35:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf35.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/35.conf
    - template: jinja
    - context:
        port: {{ app.port + 35 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App0') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-36:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf36.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/36.conf
    - template: jinja
    - context:
        port: {{ app.port + 36 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App1') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-37:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf37.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/37.conf
    - template: jinja
    - context:
        port: {{ app.port + 37 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App2') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-38:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf38.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/38.conf
    - template: jinja
    - context:
        port: {{ app.port + 38 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App3') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-39:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf39.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/39.conf
    - template: jinja
    - context:
        port: {{ app.port + 39 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App4') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-40:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf40.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/40.conf
    - template: jinja
    - context:
        port: {{ app.port + 40 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App5') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-41:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf41.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/41.conf
    - template: jinja
    - context:
        port: {{ app.port + 41 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App6') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-42:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf42.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/42.conf
    - template: jinja
    - context:
        port: {{ app.port + 42 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App0') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-43:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf43.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/43.conf
    - template: jinja
    - context:
        port: {{ app.port + 43 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App1') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-44:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf44.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/44.conf
    - template: jinja
    - context:
        port: {{ app.port + 44 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App2') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-45:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf45.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/45.conf
    - template: jinja
    - context:
        port: {{ app.port + 45 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App3') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-46:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf46.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/46.conf
    - template: jinja
    - context:
        port: {{ app.port + 46 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App4') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-47:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf47.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/47.conf
    - template: jinja
    - context:
        port: {{ app.port + 47 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App5') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-48:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf48.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/48.conf
    - template: jinja
    - context:
        port: {{ app.port + 48 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App6') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-49:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf49.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/49.conf
    - template: jinja
    - context:
        port: {{ app.port + 49 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App0') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-50:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf50.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/50.conf
    - template: jinja
    - context:
        port: {{ app.port + 50 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App1') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-51:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf51.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/51.conf
    - template: jinja
    - context:
        port: {{ app.port + 51 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App2') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-52:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf52.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/52.conf
    - template: jinja
    - context:
        port: {{ app.port + 52 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App3') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-53:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf53.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/53.conf
    - template: jinja
    - context:
        port: {{ app.port + 53 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App4') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-54:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf54.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/54.conf
    - template: jinja
    - context:
        port: {{ app.port + 54 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App5') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-55:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf55.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/55.conf
    - template: jinja
    - context:
        port: {{ app.port + 55 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App6') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-56:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf56.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/56.conf
    - template: jinja
    - context:
        port: {{ app.port + 56 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App0') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-57:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf57.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/57.conf
    - template: jinja
    - context:
        port: {{ app.port + 57 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App1') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-58:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf58.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/58.conf
    - template: jinja
    - context:
        port: {{ app.port + 58 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App2') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-59:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf59.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/59.conf
    - template: jinja
    - context:
        port: {{ app.port + 59 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App3') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-60:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf60.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/60.conf
    - template: jinja
    - context:
        port: {{ app.port + 60 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App4') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-61:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf61.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/61.conf
    - template: jinja
    - context:
        port: {{ app.port + 61 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App5') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-62:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf62.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/62.conf
    - template: jinja
    - context:
        port: {{ app.port + 62 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App6') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-63:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf63.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/63.conf
    - template: jinja
    - context:
        port: {{ app.port + 63 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App0') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-64:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf64.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/64.conf
    - template: jinja
    - context:
        port: {{ app.port + 64 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App1') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-65:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf65.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/65.conf
    - template: jinja
    - context:
        port: {{ app.port + 65 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App2') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-66:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf66.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/66.conf
    - template: jinja
    - context:
        port: {{ app.port + 66 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App3') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-67:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf67.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/67.conf
    - template: jinja
    - context:
        port: {{ app.port + 67 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App4') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-68:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf68.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/68.conf
    - template: jinja
    - context:
        port: {{ app.port + 68 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App5') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-69:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf69.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/69.conf
    - template: jinja
    - context:
        port: {{ app.port + 69 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App6') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-70:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf70.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/70.conf
    - template: jinja
    - context:
        port: {{ app.port + 70 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App0') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-71:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf71.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/71.conf
    - template: jinja
    - context:
        port: {{ app.port + 71 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App1') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-72:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf72.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/72.conf
    - template: jinja
    - context:
        port: {{ app.port + 72 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App2') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-73:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf73.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/73.conf
    - template: jinja
    - context:
        port: {{ app.port + 73 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App3') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-74:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf74.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/74.conf
    - template: jinja
    - context:
        port: {{ app.port + 74 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App4') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-75:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf75.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/75.conf
    - template: jinja
    - context:
        port: {{ app.port + 75 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App5') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-76:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf76.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/76.conf
    - template: jinja
    - context:
        port: {{ app.port + 76 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App6') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-77:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf77.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/77.conf
    - template: jinja
    - context:
        port: {{ app.port + 77 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App0') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-78:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf78.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/78.conf
    - template: jinja
    - context:
        port: {{ app.port + 78 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App1') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-79:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf79.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/79.conf
    - template: jinja
    - context:
        port: {{ app.port + 79 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App2') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-80:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf80.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/80.conf
    - template: jinja
    - context:
        port: {{ app.port + 80 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App3') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-81:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf81.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/81.conf
    - template: jinja
    - context:
        port: {{ app.port + 81 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App4') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-82:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf82.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/82.conf
    - template: jinja
    - context:
        port: {{ app.port + 82 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App5') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-83:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf83.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/83.conf
    - template: jinja
    - context:
        port: {{ app.port + 83 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App6') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-84:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf84.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/84.conf
    - template: jinja
    - context:
        port: {{ app.port + 84 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App0') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-85:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf85.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/85.conf
    - template: jinja
    - context:
        port: {{ app.port + 85 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App1') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-86:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf86.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/86.conf
    - template: jinja
    - context:
        port: {{ app.port + 86 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App2') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-87:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf87.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/87.conf
    - template: jinja
    - context:
        port: {{ app.port + 87 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App3') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-88:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf88.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/88.conf
    - template: jinja
    - context:
        port: {{ app.port + 88 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App4') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-89:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf89.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/89.conf
    - template: jinja
    - context:
        port: {{ app.port + 89 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App5') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-90:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf90.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/90.conf
    - template: jinja
    - context:
        port: {{ app.port + 90 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App6') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-91:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf91.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/91.conf
    - template: jinja
    - context:
        port: {{ app.port + 91 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App0') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-92:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf92.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/92.conf
    - template: jinja
    - context:
        port: {{ app.port + 92 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App1') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-93:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf93.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/93.conf
    - template: jinja
    - context:
        port: {{ app.port + 93 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App2') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-94:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf94.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/94.conf
    - template: jinja
    - context:
        port: {{ app.port + 94 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App3') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-95:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf95.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/95.conf
    - template: jinja
    - context:
        port: {{ app.port + 95 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App4') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-96:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf96.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/96.conf
    - template: jinja
    - context:
        port: {{ app.port + 96 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App5') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-97:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf97.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/97.conf
    - template: jinja
    - context:
        port: {{ app.port + 97 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App6') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-98:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf98.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/98.conf
    - template: jinja
    - context:
        port: {{ app.port + 98 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App0') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

service-99:
  file.managed:
    - name: /etc/app/{{ grains.id }}/conf99.d/main.conf
    - source: salt://app/files/{{ 'debian' if grains['os'] == 'Debian' else 'other' }}/99.conf
    - template: jinja
    - context:
        port: {{ app.port + 99 }}
        hosts: {{ app.hosts|json }}
        debug: {{ app.opts.get('debug', true) }}
    {{- owner('App1') }}
  {%- if grains.num_cpus > 2 and 'a' in app.hosts %}
    - makedirs: True
  {%- endif %}

{%- for i in range(200) %}
loop-{{ i }}:
  pkg.installed:
    - name: {{ 'pkg-%03d'|format(i) }}
    - version: {{ salt['test.echo'](loop.index) }}.{{ i % 7 }}
    {%- for h in app.hosts if h != 'z' %}
    - {{ h|upper }}{{ loop.index }}: {{ (h ~ i)|indent(4) }}
    {%- endfor %}
    - last: {{ loop.last }}
{%- endfor %}
