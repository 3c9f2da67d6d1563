"""One signal, or a few: rows of equal length side by side, eight in a vector."""
