"""What flags of the program are called in Python, and its sentences in these words."""

from __future__ import annotations

import re

COMMANDS = "optimize account audit simulate benchmark sampling advise epsilon graph verify report plot average partpsp smoothness spent".split()
KEYWORDS = {"T": "steps", "participations": "k", "separation": "b", "output": "out"}  # keywords of flags that are called otherwise
_SHORT = {"k": "k", "b": "b", "o": "out", "g": "graph"}


def keyword(command: str, flag: str) -> str:
    """What a flag is called in Python."""
    if (command, flag) == ("account", "attacker"):
        return "attackers"
    return KEYWORDS.get(flag, flag.replace("-", "_"))


def words(command: str, text: str) -> str:
    """A text of a command with keywords in the place of flags."""
    see = f" (see help(mafalda.{command}))" if command in COMMANDS else ""
    text = re.sub(r" \(see 'mafalda [\w -]+ --help'\)", see, text)
    text = re.sub(r'"(?:-\w, )?--([\w-]+)" flag', lambda m: keyword(command, m[1]), text)
    text = re.sub(r"(?<![\w/-])--([A-Za-z][\w-]*)", lambda m: keyword(command, m[1]), text)
    text = re.sub(r"(?<![\w/-])-([kbog])\b", lambda m: _SHORT[m[1]], text)
    return re.sub(rf"\bmafalda ({'|'.join(COMMANDS)})\b", r"mafalda.\1", text)
