"""Products by blocks of rows, over files that workers share."""
