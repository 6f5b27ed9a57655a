def said(name):
    """
    Somebody was greeted.
    """
    return {"name": name, "result": True, "comment": __salt__["greet.hello"](name), "changes": {}}
