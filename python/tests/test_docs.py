"""The table of misuse in docs/python.md names tests that are there."""

import os
import pathlib
import re

import mafalda

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent if (HERE.parent / "commands.json").exists() else pathlib.Path(os.environ["MAFALDA_SOURCE"])
PAGE = (SOURCE.parent / "docs" / "python.md").read_text(encoding="utf-8")


def test_public_modules_are_those_that_the_page_names():
    public = {path.stem for path in pathlib.Path(mafalda.__file__).parent.glob("[!_]*.py")}
    assert public == set(re.findall(r"`mafalda\.(\w+)`", PAGE.partition("Modules: ")[2].partition("\n\n")[0]))


def test_every_row_of_the_table_of_misuse_has_its_test():
    rows = [line for line in PAGE.partition("## What happens if")[2].splitlines() if line.startswith("|")][2:]
    assert len(rows) >= 10
    for row in rows:
        name, test = re.search(r"\| (test_\w+\.py): (test_\w+) \|$", row).groups()
        assert f"\ndef {test}(" in (HERE / name).read_text(encoding="utf-8"), row
