"""What files and scenes may ask for, and how much is kept: one table of all such limits. Beyond a limit there is a
sentence, never an allocation; of what is kept the oldest goes.

A row is checked where memory is about to be made, by its `readers`. The limits of a step were chosen so that what each
bounds takes about a gigabyte at most, those of files so that reading one takes no more.
"""

from typing import NamedTuple


class BeyondLimit(Exception):
    """A scene asks for more than a limit allows; the message says it in one sentence."""


class Limit(NamedTuple):
    """The most of something. As text: the amount with its unit."""

    most: int
    unit: str                 #: what is counted; "bytes" are told in MiB or GiB
    meaning: str              #: what is bounded, as the sentence of a refusal begins
    readers: tuple[str, ...]  #: files of the program that check it
    advice: str               #: how that sentence ends: what the user can do, or what is done instead

    def __str__(self) -> str:
        return amount(self.most, self.unit)

    def allow(self, wanted: int) -> None:
        """Raise BeyondLimit where more than `most` is wanted."""
        if wanted > self.most:
            raise BeyondLimit(f"{self.meaning} would need {amount(wanted, self.unit)}; {self} at most are made; "
                              f"{self.advice}")


def amount(count: int, unit: str) -> str:
    """ "300 contacts", "21.3 GiB" """
    if unit != "bytes":
        return f"{count} {unit}"
    return f"{count / 2**30:.3g} GiB" if count >= 2**30 else f"{count / 2**20:.3g} MiB"


# ------------------------------------------------------------------------------------------------------- a step

SHAPE_PAIRS = Limit(
    4_000_000, "pairs", "finding the contacts of shapes whose bounds overlap", ("physics/collision/detector.py",),
    "fewer bodies must be in each other")
CONTACT_POINTS = Limit(
    1_000_000, "contacts", "the contacts of this instant", ("physics/collision/detector.py",),
    "fewer bodies must be in each other")
EXACT_PAIRS = Limit(
    2_000_000, "pairs", "watching the surface elements that are near each other in event_driven",
    ("physics/methods/event_driven/search.py",), "time_stepping takes such a scene")
EQUATIONS = Limit(
    2**30, "bytes", "the equations of all contacts that touch at once in event_driven",
    ("physics/methods/event_driven/workspace.py",), "time_stepping takes such a scene")
EXACT_BODIES = Limit(  # the matrix of an island of so many is dense: hundreds of megabytes
    256, "moving bodies", "the equations of a heap in event_driven", ("physics/methods/event_driven/step.py",),
    "time_stepping takes them")
EXACT_TRIANGLES = Limit(  # each step tests all of its elements
    20_000, "triangles", "a mesh in event_driven", ("physics/collision/exact/elements.py",), "time_stepping takes it")
WRITTEN_OUT = Limit(
    256, "contacts", "writing out the matrix of all contacts for a solver", ("physics/solvers/matrix_form.py",),
    "the solver pgs takes any")
INSPECTED = Limit(
    300, "contacts", "showing the equations of this instant", ("physics/look/inspection.py",),
    "fewer contacts must take part")

# -------------------------------------------------------------------------------------------------------- files

SCENE_FILE = Limit(
    16 * 2**20, "bytes", "a scene file", ("physics/scene/scene.py", "physics/run/run_file.py",
                                            "physics/lesson/lesson.py", "physics/lesson/video.py"),
    "it must be a smaller scene file")
BODIES = Limit(
    20_000, "bodies", "the arrays of a scene", ("physics/scene/values.py", "physics/scene/checks.py"),
    "it must not make more")
ROBOT_FILE = Limit(
    16 * 2**20, "bytes", "a URDF file", ("physics/scene/urdf.py",), "it must be a smaller file")
MODEL_FILE = Limit(
    64 * 2**20, "bytes", "a file that an MJCF model names", ("physics/scene/mjcf_files.py",),
    "its files must be smaller")
MODEL_FILES = Limit(
    2**28, "bytes", "all files of an MJCF model", ("physics/scene/mjcf_files.py",), "its files must be smaller")
MESH_FILE = Limit(
    2**30, "bytes", "a mesh file", ("physics/scene/mesh_files.py",), "it must be a smaller mesh")
GLTF_HEAD = Limit(
    64 * 2**20, "bytes", "the part of a glTF file in which its triangles are counted", ("physics/scene/mesh_files.py",),
    "it is no whole file")
TRIANGLES = Limit(
    2_000_000, "triangles", "a mesh file", ("physics/scene/height_field.py", "physics/scene/mesh_files.py"),
    "it must have no more")
TEXTURE = Limit(
    2**26, "pixels", "the texture of a mesh", ("physics/scene/skins.py",), "it is drawn in its colour")
SHELLS = Limit(
    1000, "shells", "a mesh file that is split into solids", ("physics/scene/kept_meshes.py", "physics/scene/mesh.py",
                                                                 "physics/scene/mesh_files.py"),
    "it stays one solid")
PROBLEM_ROWS = Limit(  # its matrix has 512 MiB
    8192, "rows", "a contact problem in a file", ("physics/problem/problem.py",), "it must have no more")
RUN_MANIFEST = Limit(
    2**20, "bytes", "the manifest of a recorded run", ("physics/run/run_file.py",), "it is no recorded run")
RUN_PAGE = Limit(
    2**28, "bytes", "either half of a page of a recorded run", ("physics/run/run_file.py",), "it is no recorded run")
RUN_MESHES = Limit(
    2**29, "bytes", "all mesh files of a recorded run", ("physics/run/run_file.py",), "it is no recorded run")
RUN_SIDES = Limit(
    8, "sides", "the comparison in a recorded run", ("physics/run/run_file.py",), "it is no recorded run")
RUN_ROWS = Limit(
    1_000_000, "rows", "a table of contacts in a recorded run", ("physics/run/recording.py",), "it is no recorded run")
RUN_STEPS = Limit(
    100_000, "steps", "a page of a recorded run", ("physics/run/recording.py",), "it is no recorded run")
FORMULA = Limit(
    2000, "characters", "a formula in a scene file", ("physics/core/formula.py",), "it must be shorter")
FORMULA_DEPTH = Limit(
    60, "levels", "brackets and operations of a formula", ("physics/core/formula.py",), "it must have fewer")
SCRIPT_CURVES = Limit(  # as many as the plot has colours
    8, "curves", "the panel of a script", ("physics/run/script.py",), "it must have no more")
SCRIPT_ARROWS = Limit(
    1000, "arrows", "a step of a script", ("physics/run/script.py",), "more are not drawn")
FAN = Limit(
    4_000_000, "numbers", "all poses of a fan of perturbed starts", ("physics/run/fan.py",),
    "only some of its steps are kept")
RUNS = Limit(  # a table of more would not fit in memory
    1_000_000, "runs", "a sweep",
    ("app/command_line/arguments.py", "app/sweeps/sweep_table.py", "physics/run/sweep.py"), "it must have fewer")
ARCHIVE_FILES = Limit(
    1000, "files", "the archive of a lesson or a scene", ("physics/core/archive.py", "physics/lesson/archive.py"),
    "it must hold fewer")
ARCHIVE_SIZE = Limit(
    2**29, "bytes", "all files in the archive of a lesson or a scene",
    ("physics/core/archive.py", "physics/lesson/archive.py"),
    "it must hold less")
PAGE = Limit(  # of poses and contacts: a file of about 100 MB
    20_000_000, "numbers", "the page of a run", ("app/export/frames.py",), "it may end earlier")
VIDEO = Limit(  # more than four hours at 60 frames a second
    1_000_000, "frames", "the video", ("app/record/plan.py",),
    "a greater video.speed or video.slow_at_events, or a lower video.rate makes fewer")
ANSWERS_FILE = Limit(
    4 * 2**20, "bytes", "a file of answers", ("physics/lesson/answers.py",), "it is no file of answers")
SETTINGS_FILE = Limit(
    2**20, "bytes", "the file of settings", ("app/preferences.py",), "what follows is not read")

# ------------------------------------------------------------------------------------------------- what is kept

HISTORY = Limit(
    256 * 2**20, "bytes", "going back", ("physics/simulation/history.py",), "older states are dropped")
EVENTS = Limit(
    10_000, "events", "the list of events", ("physics/simulation/simulation.py", "physics/run/recording.py"),
    "older ones are dropped once there are twice as many")
BARS = Limit(
    6000, "bars", "contact sets over time", ("physics/look/modes.py", "physics/look/timeline.py"),
    "the older half is dropped")
SCRIPT_POINTS = Limit(
    4096, "points", "a curve of a script", ("physics/run/script.py",), "older ones are dropped")
COMMANDS = Limit(
    100_000, "commands", "the log of commands", ("physics/run/runner.py",), "older ones are dropped")
MESHES = Limit(  # a triangle takes about 300 bytes
    4_000_000, "triangles", "the mesh files read lately", ("physics/scene/kept_meshes.py",),
    "those used longest ago are read again")
JOURNAL_FILE = Limit(
    128 * 2**20, "bytes", "one of the two files of a journal", ("physics/run/journal.py",), "a new one is begun")
JOURNAL_PAGES = Limit(
    1000, "pages", "what waits for the disk", ("physics/run/journal.py",), "the run is not recorded any more")
