"""Wide panels of columns, rows in threads, indices in memory or mapped from disk."""
