"""A damaged store is set aside, and the person is told so."""

from __future__ import annotations

from lockterm.paths import Paths
from tests.screens.running_app import Demo, notices, until


async def test_damaged_store_is_reported(demo: Demo) -> None:
    file = Paths.below(demo.directory).database
    file.parent.mkdir(mode=0o700, parents=True)
    file.write_bytes(b"no database at all" * 1000)
    file.chmod(0o600)
    app = demo.app()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: "Local store: " in notices(pilot))
        assert notices(pilot).count("Local store") == 1
        kept = [path for path in file.parent.iterdir() if path.is_file() and path != file]
        assert any(path.read_bytes().startswith(b"no database at all") for path in kept)
