"""Draw the gallery's pictures anew, offscreen: python assets/thumbnails/make_thumbnails.py [KEY ...]"""

import sys
from pathlib import Path

from PIL import Image

from contactlab.app.record.studio import Studio
from contactlab.app.view.view_options import ViewOptions
from contactlab.assets import gallery
from contactlab.physics import Scene
from contactlab.physics.run.messages import Step
from contactlab.physics.run.runner import Runner

SIZE = (416, 234)
DRAWN = 4  # times larger, then scaled down: clean edges
CLOSER = 0.7  # than the scene's own view, but for
AS_CLOSE = {"percussion": 1.0, "superegg": 0.9, "moving_bases": 0.9, "wandering_load": 0.9, "welds": 1.0, "cups": 0.85,
            "rings_over_an_edge": 0.9, "hare": 1.0}
MOMENT = {"particles": 0.4, "universal": 0.1, "soft_halves": 1.5, "travelling_dent": 1.2, "soft_chatter": 0.42,
          "bouncing_balls": 1.0, "rolling_ball": 0.3, "incline": 0.8, "dice": 0.5, "tower": 0.4, "dominoes": 1.6,
          "newtons_cradle": 0.5, "t_handle": 0.4, "machines": 0.6, "meshes": 1.0, "bin": 1.2,
          "slow_bounce": 0.9, "dome": 0.9, "shaken_block": 0.2, "ladder": 0.5, "rocking_block": 0.1, "tables": 0.1,
          "eight_contacts": 0.1, "painleve": 0.1, "glue": 2.5, "soft_floor": 0.46, "soft_feet": 1.0,
          "super_ball": 0.5, "bowls": 0.15, "vertical_pipe": 0.35, "slot": 0.2, "stick_slip": 1.25, "soft_twins": 0.83,
          "linkages": 0.3, "double_pendulum": 0.5, "gyroscope": 0.5, "chain": 0.75, "kicked_chain": 0.3,
          "percussion": 0.45,
          "nut_and_bolt": 0.12, "valleys": 0.9, "rings": 0.4, "arms": 0.44, "walking_toy": 1.55, "ragdoll": 1.1,
           "humanoid": 0.9, "superegg": 0.5, "moving_bases": 0.62, "wandering_load": 1.2,
           "spin_back": 0.3, "welds": 0.6, "cups": 0.26, "rings_over_an_edge": 0.4, "hare": 0.28,
          "bulge": 1.6}  # [s]


def pictures(path: Path, moment: float) -> list[Image.Image]:
    """In the dark and in the light theme."""
    scene = Scene.load(path)
    runner = Runner(scene, paused=True)
    runner.begin()
    assert runner.latest is not None
    runner.send(Step(max(1, round(moment / runner.latest.settings.h))))
    runner.tick()
    size = (SIZE[0] * DRAWN, SIZE[1] * DRAWN)
    with Studio(size, panels=False) as studio:
        studio.aim(runner.latest, scene)
        studio.camera.distance *= AS_CLOSE.get(path.stem, CLOSER)
        frames = []
        for dark in (True, False):
            bare = ViewOptions(contact_points=False, normals=False, forces=False, friction_forces=False, impulses=False,
                               joints=False, dark=dark)
            renderer = studio.stages[0].stages[0].renderer
            renderer.draw(runner.latest, studio.camera, bare, studio.offscreen.fbo, float(DRAWN))
            frames.append(studio.offscreen.read())
    return [Image.fromarray(frame).resize(SIZE, Image.Resampling.LANCZOS) for frame in frames]


def main() -> None:
    for key, path in gallery().items():
        if not sys.argv[1:] or key in sys.argv[1:]:
            dark, light = pictures(path, MOMENT.get(key, 1.0))
            dark.save(Path(__file__).with_name(f"{key}.png"), optimize=True)
            light.save(Path(__file__).with_name(f"{key}.webp"), quality=90, method=6)


if __name__ == "__main__":
    main()
