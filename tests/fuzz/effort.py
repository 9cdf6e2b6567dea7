"""How long the fuzz tests run: short by default, long with `pytest tests/fuzz --long`. `conftest` sets LONG before any
test is imported, so that a decorator can ask: `@settings(max_examples=either(40, 10_000), deadline=None)`."""

LONG = False


def either(short: int, long: int) -> int:
    """One of two amounts, by the option --long."""
    return long if LONG else short
