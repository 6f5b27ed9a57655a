#!py
def run():
    """A state in Python: it is rendered by the minion."""
    return {
        "app_late_%s" % name: {"test.nop": [{"order": "last"}]}
        for name in sorted(__salt__["pillar.get"]("cron", {}))
    }
