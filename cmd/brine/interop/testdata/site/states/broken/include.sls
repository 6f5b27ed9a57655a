include:
  - broken.none
