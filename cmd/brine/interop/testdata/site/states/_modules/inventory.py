"""Versions and hosts of an inventory, as somebody's own module has them."""

VERSIONS = {"api": "1.2"}


def version(name):
    """
    The version of a program.
    """
    return VERSIONS.get(name, __salt__["test.echo"]("0"))


def hosts():
    """
    The hosts of the pillar, sorted.
    """
    return sorted(__pillar__.get("hosts", {}))
