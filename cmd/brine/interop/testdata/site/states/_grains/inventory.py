"""A grain of somebody's own."""


def inventory():
    return {"inventory": {"site": "north", "racks": [1, 2]}}
