"""A small scene, and the command line called in this process."""

import pytest

from contactlab.app.command_line import cli
from contactlab.app.stopping import Stopped

BALL = """
[scene]
title = "A ball"
[material.default]
restitution = 0.5
[[body]]
name = "ball"
position = [0.0, 0.0, 1.0]
velocity = [1.0, 0.0, 0.0]
[[body.shape]]
type = "sphere"
radius = 0.1
[[body]]
name = "floor"
fixed = true
[[body.shape]]
type = "plane"
"""


def call(capsys, *arguments):
    """Exit status, standard output, standard error."""
    with pytest.raises((SystemExit, Stopped)) as end:
        cli.main([str(a) for a in arguments])
    out = capsys.readouterr()
    return end.value.code, out.out, out.err
