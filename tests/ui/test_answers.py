"""Answers of many students: the files, and the table that the teacher gets."""

import csv
import json

import pytest

from contactlab.app.command_line.classroom import as_table
from contactlab.app.command_line.cli import main
from contactlab.physics.lesson.answers import COLUMNS, ENDING, Answer, AnswerFile, histogram, joined


def answered(step, value, right, kind="number", given=None):
    return Answer(step=step, question="How high?", kind=kind, given=given or f"{value}", value=value, answer="0.563 m",
                  error=value - 0.563 if kind == "number" else None, right=right, when="2026-11-23 10:00:00")


def student(k, answers):
    return AnswerFile(student=f"student {k:02}", lesson="bounce", title="Bounces", answers=tuple(answers))


@pytest.fixture
def folder(tmp_path):
    """Fifty files: of each student a number 0.01 k and, in the next step, one of three choices; three are broken."""
    for k in range(50):
        answers = [answered(2, 0.01 * k, 0.53 < 0.01 * k < 0.6),
                   answered(3, float(k % 3), k % 3 == 1, "choice", "abc"[k % 3])]
        if k == 7:  # a second try, which does not count
            answers.append(answered(2, 0.56, True))
        student(k, answers).save(tmp_path / f"s{k:02}{ENDING}")
    edited = tmp_path / f"s11{ENDING}"
    edited.write_text(edited.read_text().replace('"right": false', '"right": true'))
    (tmp_path / f"s12{ENDING}").write_text("{ not json")
    (tmp_path / f"s13{ENDING}").write_text(json.dumps({"format": "contactlab answers 1", "student": "x"}))
    (tmp_path / "notes.txt").write_text("not one of them")
    return tmp_path


def test_a_file_says_what_was_written_into_it(tmp_path):
    written = student(1, [answered(2, 0.5, False)])
    written.save(tmp_path / "a.json")
    assert AnswerFile.load(tmp_path / "a.json") == written


@pytest.mark.parametrize("change", [('"student 01"', '"student 02"'), ("0.5", "0.6"), ("false", "true")])
def test_an_edited_file_is_told(change, tmp_path):
    path = tmp_path / "a.json"
    student(1, [answered(2, 0.5, False)]).save(path)
    path.write_text(path.read_text().replace(*change, 1))
    with pytest.raises(ValueError, match=r"^a\.json: was changed after it was written"):
        AnswerFile.load(path)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[]", b"7", b"[" * 100_000, b'{"student": ""}'])
def test_what_is_no_file_of_answers_is_told_in_one_sentence(content, tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"^a\.json: ") as caught:
        AnswerFile.load(path)
    assert len(str(caught.value).splitlines()) == 1


def test_fifty_files_are_joined_and_the_broken_ones_named(folder):
    found = joined(folder)
    assert sorted(line.split(":")[0] for line in found.broken) == [f"s{k}{ENDING}" for k in (11, 12, 13)]
    assert len(found.rows) == 2 * 47
    again = next(row for row in found.rows if row["student"] == "student 07" and row["step"] == 2)
    assert again["first answer"] == "0.07" and again["tries"] == 2 and not again["right"]


def test_a_histogram_counts_every_first_answer(folder):
    rows = joined(folder).rows
    numbers = histogram([row for row in rows if row["step"] == 2])
    assert sum(count for _, count in numbers) == 47 and len(numbers) <= 10
    whole = [k for k in range(50) if k not in (11, 12, 13)]
    assert numbers[0][1] == sum(1 for k in whole if 0.01 * k < 0.49 / len(numbers))  # of 0 to 0.49
    choices = dict(histogram([row for row in rows if row["step"] == 3]))
    assert choices == {c: sum(1 for k in whole if k % 3 == i) for i, c in enumerate("abc")}


def test_the_command_tells_the_questions_and_writes_the_table(folder, tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        main(["answers", str(folder), "--out", str(tmp_path / "all.csv")])
    said = capsys.readouterr()
    assert end.value.code == 0
    assert "bounce, step 2: How high?" in said.out and "of 47 right; the run: 0.563 m" in said.out
    assert said.err.count("contactlab: ") == 3 and f"s11{ENDING}: was changed" in said.err
    rows = list(csv.DictReader((tmp_path / "all.csv").read_text(encoding="utf-8-sig").splitlines()))
    assert tuple(rows[0]) == COLUMNS and len(rows) == 94 and rows[0]["student"] == "student 00"


def test_a_folder_without_answers_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        main(["answers", str(tmp_path)])
    assert end.value.code == 2 and "holds no files *.answers.json" in capsys.readouterr().err


def test_no_text_of_a_student_is_a_formula_of_a_spreadsheet(tmp_path):
    AnswerFile(student="=1+1", lesson="bounce", title="B", answers=(answered(1, 1.0, True),)).save(
        tmp_path / f"a{ENDING}")
    assert "'=1+1" in as_table(joined(tmp_path).rows)
