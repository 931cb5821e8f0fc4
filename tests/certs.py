"""The certificates of the tests, copied for this user alone: others may write in a checkout."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path

CERTS = Path(tempfile.mkdtemp(prefix="lockterm-certs-"))
atexit.register(shutil.rmtree, CERTS, ignore_errors=True)
for _file in (Path(__file__).parent / "api" / "certs").iterdir():
    shutil.copyfile(_file, CERTS / _file.name)
    (CERTS / _file.name).chmod(0o600)
