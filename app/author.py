"""A lesson that is being written: its text with all versions, the step that is edited, and what is wrong with it. It
knows neither engine nor window; `authoring` is what it does with them."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from ..assets import gallery
from ..physics.lesson.lesson import Lesson
from ..physics.lesson.schema import LessonFile
from ..physics.scene.document import Document
from ..physics.scene.form import Location
from ..physics.scene.refusals import SceneError
from .background import in_background

Change = Callable[[Document], Any]
ORDER = tuple(LessonFile.model_fields)
NEW = '[lesson]\ntitle = "My lesson"\n'
ASK = "What will happen?"

#: the first form of a question, by its type; it can be asked of any scene, but that bodies are put into it
QUESTIONS: dict[str, dict[str, Any]] = {
    "number": {"answer": "a", "tolerance": 1.0, "measure": {"a": "energy"}},
    "choice": {"measure": {"a": "kinetic"}, "option": [{"text": "It moves at the end", "when": "a > 0"},
                                                       {"text": "It rests at the end", "when": "a <= 0"}]},
    "first": {"event": "gain", "bodies": ["", ""]},
    "greatest": {"of": {"The energy": "a", "Nothing": "0"}, "measure": {"a": "energy"}},
    "sketch": {"curve": "energy", "low": 0.0, "high": 1.0, "tolerance": 0.1},
    "point": {"answer": ["0", "0", "0"], "tolerance": 0.1},
    "arrow": {"body": "", "answer": ["0", "0", "1"], "tolerance": 15.0},
}


class Author:
    def __init__(self) -> None:
        self.on = False
        self.path: Path | None = None         #: the file that good versions are written into
        self.number = 0                       #: of the step that is edited
        self.lesson: Lesson | None = None     #: the last good version
        self.problems: tuple[str, ...] = ()   #: of the version that was checked last
        self._versions = [NEW]
        self._at = 0
        self._checked = ""
        self._checking: tuple[str, Future[Lesson]] | None = None

    def begin(self, text: str, path: Path) -> None:
        """Write another lesson. path: its file, which need not be there yet."""
        self.on, self.path, self.number = True, path, 0
        self._versions, self._at, self._checked, self._checking = [text], 0, "", None
        self.lesson, self.problems = None, ()

    @property
    def text(self) -> str:
        return self._versions[self._at]

    @property
    def document(self) -> Document:
        return Document(self.text, ORDER)

    @property
    def steps(self) -> list[dict[str, Any]]:
        return self.document.data.get("step", [])

    @property
    def pending(self) -> bool:
        """Whether the present version is still to be checked."""
        return self.text != self._checked

    def edit(self, change: Change) -> None:
        """Make a new version by a change of the document."""
        document = self.document
        change(document)
        if document.text != self.text:
            del self._versions[self._at + 1 :]
            self._versions.append(document.text)
            self._at += 1

    def put(self, at: Location, value: Any) -> None:
        """Set a field of the step that is edited, None: leave it out."""
        self.edit(lambda document: document.put(("step", self.number, *at), value))

    def undo(self, by: int) -> bool:
        """Go back by so many versions, on where it is negative; whether there are such."""
        if not 0 <= self._at - by < len(self._versions):
            return False
        self._at -= by
        self.number = max(min(self.number, len(self.steps) - 1), 0)
        return True

    def add(self, step: dict[str, Any]) -> None:
        """A step behind the one that is edited."""
        steps = self.steps
        here = min(self.number + 1, len(steps))
        self._set_steps([*steps[:here], step, *steps[here:]] if here < len(steps) else None, step)
        self.number = here

    def remove(self) -> None:
        """Take the step out that is edited."""
        self.edit(lambda document: document.remove(("step", self.number)))
        self.number = max(min(self.number, len(self.steps) - 1), 0)

    def move(self, by: int) -> None:
        """Let the step change places with a neighbour."""
        steps, other = self.steps, self.number + by
        if 0 <= other < len(steps):
            steps[self.number], steps[other] = steps[other], steps[self.number]
            self._set_steps(steps, {})
            self.number = other

    def _set_steps(self, steps: list[dict[str, Any]] | None, last: dict[str, Any]) -> None:
        """All steps anew, or one more behind the others."""

        def change(document: Document) -> None:
            if steps is None:
                document.append(("step",), last)
                return
            document.remove(("step",))
            document.extend(("step",), steps)

        self.edit(change)

    def ask(self, kind: str, bodies: Sequence[str]) -> None:
        """Let the step ask a question of this type, "" = none. bodies: of its scene, those that move first."""
        if not kind:
            self.put(("question",), None)
            return
        question = {"type": kind, "ask": ASK, **QUESTIONS[kind]}
        if kind == "first":
            question["bodies"] = [*bodies, *bodies][:2] if len(bodies) < 2 else list(bodies[:2])
        if kind == "arrow":
            question["body"] = bodies[0] if bodies else ""
        before = self.steps[self.number].get("question", {})
        question |= {name: before[name] for name in ("ask", "why") if name in before}

        def change(document: Document) -> None:
            at = ("step", self.number, "question")
            if before:
                document.remove(at)
            document.extend(at, [question])

        self.edit(change)

    def problems_at(self, at: Location) -> list[str]:
        """What is wrong with a field of the step that is edited."""
        mark = f"step[{self.number}].{'.'.join(map(str, at))}"
        return [line.partition(": ")[2] for line in self.problems if mark in line]

    def check(self) -> Lesson | None:
        """Have the present version checked in the background; a good one, once."""
        if self._checking is not None:
            text, future = self._checking
            if not future.done():
                return None
            self._checking = None
            if text == self.text:
                self._checked = text
                try:
                    self.lesson, self.problems = future.result(), ()
                    return self.lesson
                except SceneError as error:
                    self.problems = tuple(str(error).splitlines())
        if self.on and self.pending and self.path is not None:
            text, path = self.text, self.path
            self._checking = text, in_background(
                "contactlab-author", lambda: Lesson.from_text(text, path, gallery().get))
        return None
