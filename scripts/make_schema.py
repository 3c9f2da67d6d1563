"""Write frontend/src/schema.ts from graphheat.explorer.schema.

python scripts/make_schema.py
"""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any, Union, get_args, get_origin

from graphheat.explorer.schema import (
    ARRAYS,
    BLOCKS,
    FEATURES,
    HOPS,
    MAGIC,
    NO_SOURCE,
    SOURCES,
    SPLITS,
    UNIT,
    Header,
    RunHeader,
    Scope,
    ServerHeader,
    key_types,
)

PATH = Path(__file__).parents[1] / "frontend" / "src" / "schema.ts"


def typescript() -> str:
    """Return the declarations as the text of ``frontend/src/schema.ts``."""
    lines = [
        "/** What a page's data hold. Written by scripts/make_schema.py. */",
        "",
        f'export const MAGIC = 0x{MAGIC.hex()}; // "{MAGIC.decode()}"',
        f"export const SPLITS = [{', '.join(map(_quoted, SPLITS))}] as const;",
        f"export const SOURCES = {SOURCES};",
        f"export const NO_SOURCE = {NO_SOURCE};",
        f"export const HOPS = {HOPS};",
        f"export const FEATURES = {FEATURES};",
        f"export const UNIT = {UNIT};",
        "",
        "export const ARRAYS = {",
        *(f"  {name}: {array}," for name, array in ARRAYS.items()),
        "};",
        "",
        "export interface Blocks {",
    ]
    for block in BLOCKS:
        always = block.of == "graph" and not block.optional
        shape = " × ".join(map(str, block.shape))
        lines.append(f"  /** Shape {shape}. {block.about} */")
        lines.append(f"  {block.name}{'' if always else '?'}: {ARRAYS[block.type]};")
    lines += [
        "}",
        "",
        "export interface Rule {",
        "  type: keyof typeof ARRAYS;",
        "  shape: readonly (string | number)[];",
        f"  of: {' | '.join(map(_quoted, get_args(Scope)))};",
        "  optional: boolean;",
        "}",
        "",
        "export const BLOCKS: { readonly [K in keyof Blocks]-?: Rule } = {",
    ]
    for block in BLOCKS:
        shape = ", ".join(_quoted(s) if isinstance(s, str) else str(s) for s in block.shape)
        lines.append(
            f"  {block.name}: {{ type: {_quoted(block.type)}, shape: [{shape}], "
            f"of: {_quoted(block.of)}, optional: {str(block.optional).lower()} }},"
        )
    lines += ["};", "", *_interface(RunHeader), "", *_interface(ServerHeader), ""]
    lines += ["export interface Place {", "  type: string;", "  offset: number;"]
    lines += ["  length: number;", "}", "", *_interface(Header)[:-1]]
    lines += ["  blocks: { [K in keyof Blocks]?: Place };", "}"]
    return "\n".join(lines) + "\n"


def _interface(declared: type) -> list[str]:
    keys = [
        f"  {key}{'' if needed else '?'}: {_typescript(hint)};"
        for key, (hint, needed) in key_types(declared).items()
    ]
    return [f"export interface {declared.__name__} {{", *keys, "}"]


def _typescript(hint: Any) -> str:
    if get_origin(hint) in (Union, types.UnionType):
        return " | ".join(_typescript(each) for each in get_args(hint))
    if get_origin(hint) is list:
        return f"{_typescript(get_args(hint)[0])}[]"
    names = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null"}
    return names.get(hint) or str(hint.__name__)


def _quoted(word: str) -> str:
    return f'"{word}"'


if __name__ == "__main__":
    PATH.write_text(typescript(), encoding="utf-8")
