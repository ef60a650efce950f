"""Where the file of a repository is shown on GitHub, GitLab or Bitbucket."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote

_REMOTE = re.compile(
    r"(?:(?:https?|ssh|git)://(?:[^@/]+@)?(?P<host>[^/:]+)(?::\d+)?/|(?:[\w.-]+@)(?P<scp>[\w.-]+):)(?P<path>.+?)(?:\.git)?/?"
)
_PAGE_ENDING = re.compile(r"\.(md|markdown|mdx|rst|asciidoc|org)$", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class HostedFolder:
    """A folder of a branch. `address` is below `base`; a wiki's pages have no ending."""

    base: str
    is_wiki: bool

    def url_of(self, path: str) -> str:
        shown = _PAGE_ENDING.sub("", path) if self.is_wiki else path
        return f"{self.base}/{quote(shown)}"


def hosted_folder(remote: str, branch: str, folder: str) -> HostedFolder | None:
    """Returns None for a host whose addresses we do not know. `remote`: as in `git remote get-url`."""
    found = _REMOTE.fullmatch(remote)
    if found is None:
        return None
    host, repository = found["host"] or found["scp"], quote(found["path"])
    below = f"/{quote(folder.strip('/'))}" if folder.strip("/") else ""
    wiki = repository.endswith(".wiki")
    repository = repository.removesuffix(".wiki")
    match _product(host):
        case "github":
            base = f"{repository}/wiki" if wiki else f"{repository}/blob/{quote(branch)}{below}"
        case "gitlab":
            base = f"{repository}/-/wikis" if wiki else f"{repository}/-/blob/{quote(branch)}{below}"
        case "bitbucket":
            base = f"{repository}/src/{quote(branch)}{below}"
        case _:
            return None
    return HostedFolder(base=f"https://{host}/{base}", is_wiki=wiki)


def _product(host: str) -> str:
    """Recognizes the product by the host's name; own servers are company.gitlab.example or github.company.example."""
    return next((name for name in ("github", "gitlab", "bitbucket") if name in host.lower().split(".")), "")
