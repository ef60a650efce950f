"""A checkout's own settings of git, which may name programs: whoever wrote its files would have them run here.

`core.fsmonitor`, `core.sshCommand`, filters, hooks and a dozen more run a command. Instead of a list of
those, which grows with git, there is one of what is harmless: everything else of the checkout's own is
emptied for a command that only reads, and keeps a folder from being pulled. What the owner of this machine
has set for all repositories counts as ever.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_HARMLESS = re.compile(
    r"(?!.*(?:hook|command|program))(?:core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf"
    r"|quotepath|longpaths|sparsecheckout|sparsecheckoutcone|abbrev|compression|bigfilethreshold|untrackedcache|commitgraph"
    r"|multipackindex|sharedrepository|protecthfs|protectntfs|trustctime|checkstat|preloadindex|excludesfile|loosecompression|packedgitlimit|packedgitwindowsize|deltabasecachelimit|fscache"
    r"|commentchar|commentstring|whitespace|fsync|fsyncmethod|warnambiguousrefs|splitindex|createobject|maxtreedepth)"
    r"|remote\.[^\n"
    r"]*\.(?:url|pushurl|fetch|push|tagopt|prune|prunetags|mirror|promisor|partialclonefilter|skipdefaultupdate"
    r"|skipfetchall|followremotehead|gh-resolved)"
    r"|branch\.[^\n"
    r"]*\.(?:remote|merge|rebase|pushremote|description|vscode-merge-base|gh-merge-base|github-pr-owner-number)"
    r"|branch\.(?:autosetupmerge|autosetuprebase|sort)"
    r"|extensions\.(?:partialclone|worktreeconfig|objectformat|compatobjectformat|refstorage|preciousobjects|noop)"
    r"|submodule\.[^\n]*\.(?:url|active)|submodule\.(?:recurse|active)"
    r"|(?:user|author|committer)\.(?:name|email|useconfigonly)"
    r"|(?:color|advice|init|push|pull|rebase|gc|maintenance|index|pack|feature|i18n|status|column|rerere|gui)\.[a-z.]*"
    r"|fetch\.(?:prune|prunetags|parallel|writecommitgraph|showforcedupdates|unpacklimit)"
    r"|merge\.(?:ff|conflictstyle|renames|stat|log)|log\.(?:date|decorate|follow)|diff\.(?:renames|renamelimit|algorithm|colormoved|context"
    r"|interhunkcontext|noprefix|mnemonicprefix|indentheuristic|wserrorhighlight)"
    r"|http\.(?:postbuffer|version|lowspeedlimit|lowspeedtime)|lfs\.(?:repositoryformatversion|[^\n"
    r"]*\.(?:access|locksverify)))",
    re.IGNORECASE,
)
_KEPT = re.compile(r"core\.worktree|include(?:if)?\..*", re.IGNORECASE | re.DOTALL)
"""These name a folder or a file, and cannot be empty. History is not
read there, and what is included is listed itself.
"""
_OWN = ("local", "worktree")

LISTING = ("config", "--list", "--includes", "--show-scope", "--name-only", "-z")


def risky(listing: bytes) -> list[str]:
    """Returns the settings that the checkout itself makes and that are not known to be harmless.

    `listing`: what `LISTING` prints.
    """
    words = listing.decode(errors="surrogateescape").split("\0")
    named = zip(words[0::2], words[1::2], strict=False)
    return list(
        dict.fromkeys(name for scope, name in named if scope in _OWN and not _HARMLESS.fullmatch(name))
    )


def emptied(names: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Returns variables under which git takes these settings for empty, beside those that `environment` has."""
    first = int(environment.get("GIT_CONFIG_COUNT") or 0)
    variables: dict[str, str] = {}
    chosen = [name for name in names if not _KEPT.fullmatch(name)]
    for number, name in enumerate(chosen, first):
        variables |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": ""}
    return {**variables, "GIT_CONFIG_COUNT": str(first + len(chosen))}
