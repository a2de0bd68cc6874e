"""Noise and batches are of one process, and threads take turns."""

import copy
import os
import pickle
import traceback

import pytest

import mafalda
from mafalda.process import Owner


def in_child(work):
    """What work returns, or raises, in a fork of this process, as text."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = str(work())
        except mafalda.ProcessError as e:
            said = f"ProcessError: {e}"
        except BaseException:
            said = traceback.format_exc()
        os.write(writes, said.encode()[:60000])
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads, "rb") as f:
        said = f.read().decode()
    assert os.waitpid(child, 0)[1] == 0
    return said


def test_an_owner_is_one_process(monkeypatch):
    owner = Owner("this sampler")
    owner.check()
    assert owner.here
    said = in_child(owner.check)
    assert said.startswith(f"ProcessError: this sampler is of process {os.getpid()}, and this is process ")
    made = in_child(lambda: Owner().check())
    assert made == "None"
    mine = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: mine)  # as in a process namespace of its own, where the number is the parent's
    assert in_child(owner.check).startswith("ProcessError")


@pytest.mark.parametrize("way", [pickle.dumps, copy.copy, copy.deepcopy])
def test_an_owner_is_not_copied(way):
    with pytest.raises(mafalda.ProcessError, match="cannot be copied"):
        way(Owner())
