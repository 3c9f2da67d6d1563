"""``python -m graphheat``."""

from graphheat.cli import main

if __name__ == "__main__":
    main()
