"""Drawing fewer pixels while a slow machine moves."""

from contactlab.app.panels.stage import Detail


def after(frames: int, seconds_a_full_picture: float) -> Detail:
    """The detail after so many frames whose cost goes with their pixels."""
    detail = Detail()
    for _ in range(frames):
        detail.note(seconds_a_full_picture * detail.factor**2)
    return detail


def test_a_fast_machine_draws_every_pixel():
    assert after(100, 0.01).factor == 1.0


def test_a_slow_machine_draws_as_few_pixels_as_make_it_fluent():
    assert after(100, 0.04).factor**2 * 0.04 <= Detail.SLOW
    assert after(100, 0.04).factor >= 0.8


def test_the_detail_settles():
    detail = after(200, 0.04)
    seen = set()
    for _ in range(100):
        detail.note(0.04 * detail.factor**2)
        seen.add(detail.factor)
    assert len(seen) == 1
