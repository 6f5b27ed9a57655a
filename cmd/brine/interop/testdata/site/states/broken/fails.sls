fails:
  test.fail_without_changes:
    - name: no

source_missing:
  file.managed:
    - name: {{ grains.out }}-{{ grains.id }}/never
    - source:
      - salt://broken/none.txt
      - salt://broken/none.jinja

after:
  test.nop:
    - require: [{test: fails}]

rescue:
  test.nop:
    - onfail: [{file: source_missing}]
