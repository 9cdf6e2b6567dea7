"""A parameter study: how high a ball bounces, and after how long it rests, over its coefficient of restitution."""

import numpy as np

import contactlab

scene = contactlab.Scene.from_dict({
    "body": [
        {"name": "floor", "fixed": True, "shape": [{"type": "plane"}]},
        {"name": "ball", "position": [0, 0, 1.1], "shape": [{"type": "sphere", "radius": 0.1}]},
    ],
})


def main(workers: int | None = None) -> dict[str, list]:
    """workers: processes, else as many as there are cores; 0: this one alone, without dask."""
    study = contactlab.sweep(scene, {"restitution": np.linspace(0.1, 0.8, 8)}, ["rest time", "impacts"], until=8.0,
                             settings={"method": "event_driven"}, workers=workers)
    fall = np.sqrt(2.0 * 1.0 / 9.81)  # of the first metre [s]
    print("   e   rests after   fall (1 + e)/(1 - e)   impacts")
    for e, rest, impacts in zip(study["restitution"], study["rest time"], study["impacts"], strict=True):
        print(f"{e:5.2f} {rest:10.3f} s {fall * (1.0 + e) / (1.0 - e):17.3f} s {impacts:12.0f}")
    return study


if __name__ == "__main__":  # the processes of the workers read this file, too
    main()
