extra:
  file.managed:
    - name: {{ grains['out'] }}-{{ grains['id'] }}/extra
    - makedirs: True
    - contents: |
        {% for n in range(3) -%}
        line {{ n }} of {{ sls }}
        {% endfor %}
{% include 'web/more.sls' %}
