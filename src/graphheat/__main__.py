"""``python -m graphheat``."""

from graphheat.cli.process import command

if __name__ == "__main__":
    command()
