"""Writes params.json: which parameters a remote may have, as the tables of the Salt release that runs it name them.

Usage: <python of a Salt 3008.3 environment> params.py params.json
"""

import json
import pathlib
import sys

import salt.fileserver.gitfs as files
import salt.pillar.git_pillar as pillar
import salt.utils.gitfs as shared

pathlib.Path(sys.argv[1]).write_text(json.dumps({
    "gitfs": sorted(files.PER_REMOTE_OVERRIDES + files.AUTH_PARAMS),
    "gitfs_only": sorted(files.PER_REMOTE_ONLY),
    "git_pillar": sorted(pillar.PER_REMOTE_OVERRIDES + shared.AUTH_PARAMS),
    "git_pillar_only": sorted(pillar.PER_REMOTE_ONLY),
    "git_pillar_global": sorted(pillar.GLOBAL_ONLY),
    "gitfs_global": sorted(shared.GLOBAL_ONLY),
    "saltenv": sorted(shared.PER_SALTENV_PARAMS),
}, indent=1) + "\n")
