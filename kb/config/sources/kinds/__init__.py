"""The kinds of source. `kind` in `[[sources]]` tells them apart; a source without one is a folder.

Every class of settings in a module of this folder is a kind: a new one is a class here, and the source that it names.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Union, get_args

from pydantic import Discriminator, Tag

from kb.config.sources.common import CommonSettings


def kind_of(given: object) -> str:
    """Returns the kind of settings, or of a table of a settings file."""
    kind = given.get("kind", "folder") if isinstance(given, dict) else getattr(given, "kind", "folder")
    return str(kind)


def _classes() -> Iterator[type[CommonSettings]]:
    for module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
        for value in vars(import_module(f"{__name__}.{module}")).values():
            if isinstance(value, type) and issubclass(value, CommonSettings) and value is not CommonSettings:
                yield value


KINDS: Mapping[str, type[CommonSettings]] = {
    get_args(settings.model_fields["kind"].annotation)[0]: settings for settings in _classes()
}

if TYPE_CHECKING:
    AnySourceSettings = CommonSettings
else:
    AnySourceSettings = Annotated[
        Union[tuple(Annotated[settings, Tag(kind)] for kind, settings in KINDS.items())],  # noqa: UP007 - made at run time
        Discriminator(
            kind_of,
            custom_error_type="source_kind",
            custom_error_message=f"unknown kind; known: {', '.join(sorted(KINDS))}",
        ),
    ]
