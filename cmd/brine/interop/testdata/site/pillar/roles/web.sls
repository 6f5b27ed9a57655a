roles: [web]
