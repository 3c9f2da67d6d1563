"""The numba engine: compiled blocks of columns. Importing this package does not import numba."""
