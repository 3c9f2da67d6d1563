"""Small text files, written in a line."""


def text_writer(folder, default):
    """Return a function that writes text or bytes into ``folder`` and returns the path."""

    def write(text, name=default):
        path = folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write
