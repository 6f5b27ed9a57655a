"""A state of somebody's own, with his own module."""


def listed(name, wanted=None):
    """
    All wanted hosts are in the inventory.
    """
    ret = {"name": name, "changes": {}, "result": True, "comment": "all there"}
    missing = [h for h in wanted or [] if h not in __salt__["inventory.hosts"]()]
    if missing:
        ret.update(result=False, comment="missing: " + ", ".join(missing))
    elif __opts__["test"]:
        ret.update(result=None, comment="would be listed")
    else:
        ret["changes"] = {"listed": len(wanted or [])}
    return ret
