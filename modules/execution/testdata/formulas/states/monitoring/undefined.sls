a: 1
b: {{ pillar.nosuch.deeper }}
c: 3
