{% from 'monitoring/data/note.txt' import nothing %}
x: {{ nothing }}
