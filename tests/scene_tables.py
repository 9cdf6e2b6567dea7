"""Walks through the tables of a scene file."""


def places(node, at=()):
    """Every place of a scene that holds something."""
    if at:
        yield at
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in children:
        yield from places(child, (*at, key))
