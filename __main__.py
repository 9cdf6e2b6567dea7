"""`python -m contactlab` is the program `contactlab`."""

from .app.cli import program

if __name__ == "__main__":
    program()
