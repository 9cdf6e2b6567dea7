"""The text of a lesson's step as HTML, beside the run on its page; formulas are pictures, the answer is behind a click.
"""

import base64
import html
import io

from PIL import Image

from ...physics.core.language import _
from ...physics.lesson.lesson import Lesson
from ...physics.lesson.questions import NoAnswer, options, pieces, right_answer
from ..panels import formula
from ..panels.wrapping import joined

INK = 27, 34, 48   # of the page
PIXELS = 36        # of a formula's letters, twice as many as are shown


def title_of(lesson: Lesson, number: int) -> str:
    return f"{_(lesson.title)}: {_(lesson.steps[number].title)}"


def words_of(lesson: Lesson, number: int, values: dict[str, float]) -> str:
    """The text of a step and its question. values: what its run has measured."""
    step = lesson.steps[number]
    parts = [html_of(_(step.text))]
    question = step.question
    if question is not None:
        answers = "".join(f"<li>{html.escape(text)}</li>" for text in options(question, _))
        try:
            found = right_answer(question, values, _)
            said, why = found.answer, found.why
        except NoAnswer as error:
            said, why = str(error), ""
        parts += [f"<h2>{_('Predict, then see')}</h2>", html_of(_(question.ask)),
                  f"<ul>{answers}</ul>" if answers else "",
                  f"<details><summary>{_('What the run says')}</summary><p>{html.escape(said)}</p>"
                  f"{html_of(why)}</details>"]
    return "".join(parts)


def html_of(text: str) -> str:
    """Paragraphs, and formulas in lines of their own."""
    return "".join(_picture(part.strip("$").strip()) if is_formula else _paragraphs(part)
                   for part, is_formula in pieces(text))


def _paragraphs(text: str) -> str:
    found = (joined(part) for part in text.split("\n\n"))
    return "".join(f"<p>{html.escape(part)}</p>" for part in found if part)


def _picture(latex: str) -> str:
    """A formula as a picture; as plain text where none can be typeset."""
    words = html.escape(formula.plain(latex))
    if not formula.ready():
        return f"<p>{words}</p>"
    try:
        pixels = formula.typeset(latex, PIXELS)
    except RuntimeError:
        return f"<p>{words}</p>"
    dark = pixels.copy()
    dark[..., :3] = INK
    file = io.BytesIO()
    Image.fromarray(dark).save(file, "PNG")
    data = base64.b64encode(file.getvalue()).decode()
    return (f'<p><img src="data:image/png;base64,{data}" alt="{words}" '
            f'style="width:{pixels.shape[1] / 2:g}px;max-width:100%"></p>')
