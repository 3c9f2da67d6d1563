"""The ids of a disk graph's nodes: integers or text, mapped, and found by binary search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from graphheat.checks import shown
from graphheat.disk.array_folder import ArrayFolder
from graphheat.errors import FileFormatError, NodeNotFoundError
from graphheat.io.written import is_integer


class NodeIds(Sequence[Any]):
    """Ids by row number, none of them in memory until it is asked for.

    Text is one long array of UTF-8 bytes, ``id_text``, with the offsets of each id,
    ``id_offsets``; integers are ``id_numbers``. ``id_order`` lists the row numbers by rising id.

    Examples
    --------
    >>> ids = NodeIds.of_text(["bob", "ann"])
    >>> ids[0], ids.index_of("ann"), len(ids)
    ('bob', 1, 2)
    """

    def __init__(
        self,
        order: NDArray[Any],
        *,
        numbers: NDArray[np.int64] | None = None,
        text: NDArray[np.uint8] | None = None,
        offsets: NDArray[np.int64] | None = None,
        name: str = "graph",
    ) -> None:
        self._order, self._numbers = order, numbers
        self._text, self._offsets = text, offsets
        self._name = name

    @classmethod
    def of_folder(cls, folder: ArrayFolder, name: str) -> NodeIds:
        """Return the ids of an opened disk graph."""
        if "id_numbers" in folder:
            return cls(folder.array("id_order"), numbers=folder.array("id_numbers"), name=name)
        return cls(
            folder.array("id_order"),
            text=folder.array("id_text"),
            offsets=folder.array("id_offsets"),
            name=name,
        )

    @classmethod
    def of_text(cls, ids: Sequence[str]) -> NodeIds:
        """Return ids that are in memory."""
        encoded = [each.encode() for each in ids]
        offsets = np.concatenate([[0], np.cumsum([len(each) for each in encoded])])
        order = np.array(sorted(range(len(ids)), key=encoded.__getitem__), dtype=np.int32)
        text = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        return cls(order, text=text, offsets=offsets.astype(np.int64))

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        position = range(len(self))[index]
        if self._numbers is not None:
            return int(self._numbers[position])
        try:
            return self._bytes(position).decode()
        except UnicodeDecodeError as error:
            raise self._damaged(position) from error

    def __iter__(self) -> Iterator[Any]:
        return (self[position] for position in range(len(self)))

    @property
    def are_numbers(self) -> bool:
        """Whether ids are integers."""
        return self._numbers is not None

    def _bytes(self, position: int) -> bytes:
        assert self._text is not None and self._offsets is not None
        begin, end = int(self._offsets[position]), int(self._offsets[position + 1])
        return self._text[begin:end].tobytes()

    def between(self, first: int, last: int) -> Any:
        """Return the ids of rows first … last as an Arrow array, for a table."""
        import pyarrow

        if self._numbers is not None:
            return pyarrow.array(np.asarray(self._numbers[first:last]))
        assert self._text is not None and self._offsets is not None
        offsets = np.asarray(self._offsets[first : last + 1])
        text = np.ascontiguousarray(self._text[int(offsets[0]) : int(offsets[-1])])
        local = (offsets - offsets[0]).astype(np.int64)
        buffers = [None, pyarrow.py_buffer(local), pyarrow.py_buffer(text)]
        found = pyarrow.Array.from_buffers(pyarrow.large_string(), last - first, buffers)
        try:
            found.validate(full=True)
        except pyarrow.ArrowInvalid as error:
            raise self._damaged(first) from error
        return found

    def _damaged(self, position: int) -> FileFormatError:
        return FileFormatError(
            f"{self._name} is damaged: an id from row {position:,} on is not UTF-8."
        )

    def index_of(self, node: Any) -> int:
        """Return the row number of an id; "12" finds the id 12."""
        if isinstance(node, np.generic):
            node = node.item()
        wanted: Any = str(node).encode()
        if self._numbers is not None:
            whole = isinstance(node, int) and not isinstance(node, bool)
            wanted = int(node) if whole or (isinstance(node, str) and is_integer(node)) else None
        if wanted is not None:
            low, high = 0, len(self)
            while low < high:
                middle = (low + high) // 2
                if self._key(int(self._order[middle])) < wanted:
                    low = middle + 1
                else:
                    high = middle
            if low < len(self) and self._key(int(self._order[low])) == wanted:
                return int(self._order[low])
        first, last = (self[int(self._order[k])] for k in (0, -1))
        raise NodeNotFoundError(
            f"{self._name} has no node {shown(repr(node))}; its {len(self):,} ids run from "
            f"{_plain(first)} to {_plain(last)}."
        )

    def _key(self, position: int) -> Any:
        return self._bytes(position) if self._numbers is None else int(self._numbers[position])


def _plain(node: Any) -> str:
    """Return an id for a message: on one line, a long one cut."""
    text = str(node)
    return shown(text if text.isprintable() else repr(text))
