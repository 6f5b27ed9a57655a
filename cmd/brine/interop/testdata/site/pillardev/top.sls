dev:
  '*': [common]
