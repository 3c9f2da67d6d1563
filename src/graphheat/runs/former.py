"""Files and settings of earlier versions, brought to the present names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphheat.features.scaling import FORMER

FORMER_SETTINGS = {"weight_decay": "l2", "own": "self_weight", "identity": "self_term"}


def current_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings under their present names.

    Examples
    --------
    >>> current_settings({"scaling": "rows", "weight_decay": 0.1})
    {'scaling': 'l1', 'l2': 0.1}
    """
    renamed = {FORMER_SETTINGS.get(name, name): value for name, value in settings.items()}
    if isinstance(renamed.get("scaling"), str):
        renamed["scaling"] = FORMER.get(renamed["scaling"], renamed["scaling"])
    return renamed


def current_header(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return the header of a run's file of schema 1 as schema 2 has it.

    There an entry ``linear`` marked a linear run, and an entry ``system`` a baseline's.
    """
    current = dict(header)
    if "linear" in header:
        given = dict(header["linear"])
        chosen = current_settings({"scaling": given.pop("scaling"), "own": given.pop("own")})
        forms = [
            current_settings({"scaling": kind, "own": own}) for kind, own in given.pop("forms")
        ]
        current |= {
            "kind": "linear",
            "recipe": "linear",
            "settings": current_settings(given.pop("asked")),
            "linear": {**given, **chosen, "forms": [list(form.values()) for form in forms]},
        }
    elif "system" in header:
        current |= {
            "kind": "baseline",
            "recipe": header["system"],
            "settings": current_settings(header["settings"]),
        }
    else:
        settings = current_settings(header["settings"])
        current |= {"kind": "network", "recipe": settings["recipe"], "settings": settings}
    return current
