"""Answers of a student: the file that is sent to the teacher, and the table of many of them."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..core.limits import ANSWERS_FILE
from ..core.whole_file import whole_file

ENDING = ".answers.json"
BINS = 10       # of a histogram of numbers
MOST_ANSWERS = 10_000
COLUMNS = ("student", "lesson", "step", "question", "first answer", "answer of the run", "error", "right", "tries",
           "file")

Words = Annotated[str, Field(strict=True, max_length=20_000)]
Finite = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Answer(_Record):
    """One prediction, and what the run said of it."""

    step: Annotated[int, Field(strict=True, ge=1)]  #: number of the step, from 1
    question: Words
    kind: Words                      #: a name in `schema.QUESTIONS`
    given: Words                     #: what was answered, in words
    value: Finite | None             #: the number that was answered, or the row of what was chosen; None of others
    answer: Words                    #: what the run gave, in words; "" where it gave none
    error: Finite | None             #: see `questions.Verdict`; None where there is none
    right: bool | None               #: None: the run gave no answer
    when: Words                      #: date and time


class AnswerFile(_Record):
    """What one student answered in one lesson, oldest first."""

    format: Literal["contactlab answers 1"] = "contactlab answers 1"
    student: Annotated[str, Field(strict=True, min_length=1, max_length=200)]
    lesson: Words                    #: its key
    title: Words
    answers: Annotated[tuple[Answer, ...], Field(max_length=MOST_ANSWERS)] = ()

    def save(self, path: Path) -> None:
        """Write the file, whole or not at all. Raises OSError."""
        data = self.model_dump(mode="json")
        with whole_file(path) as file:
            file.write(json.dumps({**data, "seal": _seal(data)}, indent=1, ensure_ascii=False).encode())

    @classmethod
    def load(cls, path: Path) -> "AnswerFile":
        """Read a file. Raises ValueError with one sentence: it is no such file, or was edited after it was written."""
        try:
            if path.stat().st_size > ANSWERS_FILE.most:
                raise ValueError(f"{path.name}: is larger than {ANSWERS_FILE}; {ANSWERS_FILE.advice}.")
            data = json.loads(path.read_bytes())
        except OSError as error:
            raise ValueError(f"{path.name}: cannot be read ({error.strerror or error}).") from error
        except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
            raise ValueError(f"{path.name}: is no file of answers; it must be one that the program has written.") \
                from error
        seal = data.pop("seal", None) if isinstance(data, dict) else None
        try:
            read = cls.model_validate(data)
        except ValidationError as error:
            place = ".".join(map(str, error.errors()[0]["loc"])) or "its form"
            raise ValueError(f"{path.name}: is no file of answers ({place} does not fit); it must be one that the "
                             "program has written.") from error
        if seal != _seal(data):
            raise ValueError(f"{path.name}: was changed after it was written, so its answers do not count.")
        return read


def _seal(data: Any) -> str:
    """A hash of what a file says. It tells an edited or damaged file; it is no signature."""
    return hashlib.sha256(("contactlab " + json.dumps(data, sort_keys=True, ensure_ascii=True)).encode()).hexdigest()


# -------------------------------------------------------------------------------------------------- many of them


Row = dict[str, Any]  #: by COLUMNS; "value" and "kind" beside them


class Joined(NamedTuple):
    """The answers of a folder."""

    rows: list[Row]      #: a row a student and question: the first answer counts
    broken: list[str]    #: a sentence for each file that cannot be used


def joined(folder: Path) -> Joined:
    """The answers in all files of a folder, and which of them are broken. Raises OSError."""
    rows, broken = [], []
    for path in sorted(folder.iterdir()):
        if not path.name.endswith(ENDING) or not path.is_file():
            continue
        try:
            rows += _rows(AnswerFile.load(path), path)
        except ValueError as error:
            broken.append(str(error))
    return Joined(sorted(rows, key=lambda row: (row["lesson"], row["step"], row["student"])), broken)


def _rows(file: AnswerFile, path: Path) -> list[Row]:
    found: dict[tuple[int, str], Row] = {}
    for answer in file.answers:
        row = found.setdefault((answer.step, answer.question), {
            "student": file.student, "lesson": file.lesson, "step": answer.step, "question": answer.question,
            "first answer": answer.given, "answer of the run": answer.answer, "error": answer.error,
            "right": answer.right, "tries": 0, "file": path.name, "kind": answer.kind, "value": answer.value})
        row["tries"] += 1
    return list(found.values())


def histogram(rows: Sequence[Row]) -> list[tuple[str, int]]:
    """How often which first answer was given to one question: numbers in up to BINS equal intervals, words by their
    count."""
    kinds = {row["kind"] for row in rows}
    if kinds == {"number"}:
        return _binned([row["value"] for row in rows])
    if kinds == {"point"} and all(row["error"] is not None for row in rows):
        return [(f"off by {label} m", count) for label, count in _binned([row["error"] for row in rows])]
    words = [_tenth(row) or row["first answer"] for row in rows]
    return sorted(Counter(words).items(), key=lambda item: (-item[1], item[0]))


def _binned(numbers: list[float]) -> list[tuple[str, int]]:
    """How many numbers are in which of up to BINS equal intervals."""
    low, high = min(numbers), max(numbers)
    bins = 1 if high == low else min(BINS, math.ceil(math.sqrt(len(numbers))) + 1)
    width = (high - low) / bins or 1.0
    counts = Counter(min(int((value - low) / width), bins - 1) for value in numbers)
    if bins == 1:
        return [(f"{low:.4g}", counts[0])]
    return [(f"{low + k * width:.4g} … {low + (k + 1) * width:.4g}", counts[k]) for k in range(bins)]


def _tenth(row: Row) -> str:
    """In which tenth of the axis a sketch was off, and within which ten degrees an arrow; "" of other answers."""
    if row["error"] is None or row["kind"] not in ("sketch", "arrow"):
        return ""
    share, unit = (10.0, " %") if row["kind"] == "sketch" else (0.1, "°")
    tenth = int(share * row["error"])
    return f"off by {10 * tenth} to {10 * tenth + 10}{unit}"
