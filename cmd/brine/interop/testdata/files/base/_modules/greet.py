def hello(name="nobody"):
    """
    Greet somebody.
    """
    return "hello " + name
