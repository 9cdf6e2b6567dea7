"""What the command line does for those who teach: list lessons, play one through, join the answers of many students."""

import csv
import io
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from ...physics.core.whole_file import whole_file
from ...physics.lesson.answers import COLUMNS, ENDING, Joined, Row, histogram, joined
from ...physics.lesson.lesson import Lesson
from ...physics.lesson.play import play
from ...physics.lesson.questions import NoAnswer, right_answer
from ..course import lesson_entries
from .console import print_table

BAR = 30  # letters of the longest bar of a histogram


def print_lessons() -> None:
    """Print the lessons that come along."""
    print_table(("lesson", "title", "what is learnt"), ((e.key, e.title, e.summary) for e in lesson_entries()))


def played_through(lesson: Lesson) -> Iterator[str]:
    """The run of every step, and what it answers: a line each."""
    for k, step in enumerate(lesson.steps):
        head = f"{k + 1}. {step.title}"
        if step.until is None or lesson.runs[k] is None:
            yield f"{head}: nothing runs"
            continue
        values = play(lesson, k).values
        if step.question is None:
            yield f"{head}: runs to {step.until:g} s"
            continue
        try:
            yield f"{head}: {right_answer(step.question, values).answer}"
        except NoAnswer as error:
            yield f"{head}: {error}"


def collected(folder: Path) -> Joined:
    """The answers of a folder. Raises OSError, and ValueError where there is none."""
    found = joined(folder)
    if not found.rows and not found.broken:
        raise ValueError(f"{folder} holds no files *{ENDING}")
    return found


def as_table(rows: list[Row]) -> str:
    """All rows as CSV. A text that a spreadsheet would take as a formula gets a ' before it."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([_plain(row[column]) for column in COLUMNS])
    return text.getvalue()


def _plain(value: object) -> object:
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t"):
        return f"'{value}"
    return "" if value is None else value


def write_table(rows: list[Row], out: Path) -> None:
    """Raises OSError."""
    with whole_file(out) as file:
        file.write(as_table(rows).encode("utf-8-sig"))  # spreadsheets know by its mark that it is UTF-8


def told(rows: list[Row]) -> Iterator[str]:
    """Of every question how many were right, and how often which answer was given."""
    for (lesson, step, question), group in groupby(rows, key=lambda r: (r["lesson"], r["step"], r["question"])):
        those = list(group)
        right = sum(1 for row in those if row["right"])
        yield f"{lesson}, step {step}: {' '.join(question.split())}"
        yield f"  {right} of {len(those)} right; the run: {those[-1]['answer of the run'] or 'no answer'}"
        bars = histogram(those)
        most, wide = max(count for _, count in bars), max(len(label) for label, _ in bars)
        for label, count in bars:
            yield f"  {label:>{wide}}  {'#' * max(round(BAR * count / most), 1 if count else 0)} {count}"
