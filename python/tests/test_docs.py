"""The table of misuse in docs/python.md names tests that are there."""

import os
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent


def test_every_row_of_the_table_of_misuse_has_its_test():
    source = HERE.parent if (HERE.parent / "commands.json").exists() else pathlib.Path(os.environ["MAFALDA_SOURCE"])
    page = (source.parent / "docs" / "python.md").read_text(encoding="utf-8").partition("## What happens if")[2]
    rows = [line for line in page.splitlines() if line.startswith("|")][2:]
    assert len(rows) >= 10
    for row in rows:
        name, test = re.search(r"\| (test_\w+\.py): (test_\w+) \|$", row).groups()
        assert f"\ndef {test}(" in (HERE / name).read_text(encoding="utf-8"), row
