"""The push engine: local, for rows and for matrices of short times."""
