"""`python -m contactlab` is the program `contactlab`."""

from .app.command_line.program import program

if __name__ == "__main__":
    program()
