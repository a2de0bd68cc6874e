"""Reading `manifest.json` so that two programs cannot read it differently, and the files it lists."""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

from . import _checks, _files
from .errors import ExportError
from ._types import Json


def read(directory: str) -> tuple[Json, str]:
    """The manifest of an export, and the SHA-256 of its bytes, which nodes compare before they start.

    Every file is compared with the manifest's hash of it, and there may be no others; what the manifest says is checked
    as checks has it.
    """
    path = os.path.join(directory, "manifest.json")
    try:
        text = _files.read(path)
    except OSError as e:
        raise ExportError(f"no export in {directory}: {e}") from e
    manifest = parse(text)
    manifest.setdefault("files", {})  # parameters alone, without a network, have none
    _checks.check(manifest)
    _check_files(directory, manifest)
    return manifest, hashlib.sha256(text).hexdigest()


def parse(text: bytes) -> Json:
    """The JSON object, in UTF-8, with no key twice (in another case neither), and nothing that is no number."""
    try:
        manifest = json.loads(text.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_number)
    except UnicodeDecodeError as e:
        raise ExportError(f"the manifest is not UTF-8: {e}") from e
    except ExportError:
        raise
    except (ValueError, RecursionError) as e:
        raise ExportError(f"the manifest is no JSON: {e}") from e
    if not isinstance(manifest, dict):
        raise ExportError("the manifest is no JSON object")
    return manifest


def _check_files(directory: str, manifest: Json) -> None:
    for name, digest in manifest["files"].items():
        if name in ("", ".", "..", "manifest.json") or set(name) & set("/\\\0"):
            raise ExportError(f"{name!r} is no file of an export")
        try:
            found = _files.sha256(os.path.join(directory, name))
        except OSError as e:
            raise ExportError(f"{name} is in the manifest, but cannot be read: {e}") from e
        if found != digest.lower():
            raise ExportError(f"{name} is not the file of the manifest: it was changed, or is of another export")
    for name in os.listdir(directory):
        if name != "manifest.json" and name not in manifest["files"]:
            raise ExportError(f"{name} is not in the manifest")


def _once(pairs: list[tuple[str, Any]]) -> Json:
    seen = set()
    for key, _ in pairs:
        folded = key.upper().lower()
        if folded in seen:
            raise ExportError(f"the manifest has the key {key!r} twice")
        seen.add(folded)
    return dict(pairs)


def _no_number(word: str) -> None:
    raise ExportError(f"the manifest has {word} for a number")
