"""`python -m contactlab` is the program `contactlab`."""

from .app.command_line.cli import program

if __name__ == "__main__":
    program()
