{% include 'sub/part.j2' %}
