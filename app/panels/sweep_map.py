"""A map of a sweep: a box in which one chooses one or two parameters and what is measured, and sees it over their
values, each as a cell; a click on a cell opens that run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from imgui_bundle import imgui

from ...physics.core.language import _, labelled
from ...physics.core.model import Array, movable
from ...physics.core.settings import SETTINGS
from ...physics.look.quantities import QUANTITIES
from ...physics.run.measures import OWN_MEASURES, STATISTICS
from ...physics.run.messages import Command, MapStudy, Snapshot, StudyMap
from ..sweeps.sweep_table import AXES, SweepTable
from ..ui_state import Rect, UiState
from . import pictures, style
from .fields import read_number, written
from .watch import choose_body, of_scene

MOST = 41            # values of a parameter
TIMES = (0.1, 60.0)  # simulated time of a run [s]
PLACES = ("mass", "position.0", "position.1", "position.2", "velocity.0", "velocity.1", "velocity.2",
          "angular_velocity.0", "angular_velocity.1", "angular_velocity.2")  # of the selected body
#: colours of least, …, greatest: even steps of lightness, and told apart by who sees no red or no green [viridis]
RAMP = tuple(style.rgb(text) for text in ("#440154", "#3b528b", "#21918c", "#5ec962", "#fde725"))


@dataclass
class Axis:
    """A parameter and its values; without a name there is none."""

    name: str = ""
    low: float = 0.0
    high: float = 1.0
    count: int = 11

    @property
    def values(self) -> tuple[float, ...]:
        return tuple(float(f"{v:.12g}") for v in np.linspace(self.low, self.high, self.count))


@dataclass
class MapUi:
    """What the box remembers."""

    axes: list[Axis] = field(default_factory=lambda: [Axis("restitution"), Axis("friction", 0.0, 1.0)])
    measure: str = "rest time"  # of OWN_MEASURES or QUANTITIES
    body: int = -1
    statistic: str = "end"
    until: float = 3.0
    table: SweepTable | None = None  # that is shown in place of runs made here
    axes_of_table: list[str] = field(default_factory=list)
    measure_of_table: str = ""
    others: dict[str, int] = field(default_factory=dict)  # which values the other parameters of the table have
    study: MapStudy | None = None    # of the table, as it is chosen now

    def show(self, table: SweepTable | None) -> None:
        """Show a table from its first two parameters that are numbers."""
        self.table, self.others, self.study = table, {}, None
        if table is not None:
            self.axes_of_table, self.measure_of_table = table.numbers[:AXES], table.measures[0]


def draw_sweep_map(ui: UiState, snapshot: Snapshot, send: Callable[[Command], None]) -> None:
    """The contents of the box: what is varied and measured at the left, the map beside it."""
    mine, study = ui.state_of(MapUi), snapshot.map
    if mine.table is not None:
        study = mine.study = mine.study or mine.table.study(mine.axes_of_table, mine.measure_of_table, mine.others)
    with style.font(ui, bold=True, size=20.0):
        imgui.text(_("Map of a sweep"))
    style.muted(ui, (_("The scene is run from its start with the present settings for every combination of values.")
                     if mine.table is None
                     else _("{name}: runs that were made before.").format(name=mine.table.path.name))
                + _(" A click on a cell opens that run."), wrap=True)
    if mine.table is not None and mine.table.scripted:
        style.muted(ui, _("A script has prepared each of these runs; what a click opens goes without it."), wrap=True)
    wide = min(24.0 * ui.font, 0.45 * imgui.get_content_region_avail().x)
    high = min(24.0 * ui.font, 0.6 * imgui.get_io().display_size.y)
    imgui.begin_child("map_choice", (wide, high))
    if mine.table is None:
        for k, axis in enumerate(mine.axes):
            style.heading(ui, _("Across") if k == 0 else _("Upwards"))
            _axis(ui, snapshot, axis, k)
        style.heading(ui, _("Measured"))
        _measure(ui, snapshot, mine)
    else:
        _table_choice(ui, mine, mine.table)
    imgui.end_child()
    imgui.same_line()
    imgui.begin_child("map", (imgui.get_content_region_avail().x, high), 0, imgui.WindowFlags_.no_scrollbar)
    if study is None:
        style.muted(ui, _("Nothing is measured yet."))
    else:
        _map(ui, study)
    imgui.end_child()
    if mine.table is None:
        _buttons(ui, mine, study, asked(mine, snapshot), send)
    else:
        if imgui.button(labelled("Runs of my own##map")):
            mine.show(None)
        imgui.same_line()
    if imgui.button(labelled("Close##map")):
        ui.sweep_map = False


def asked(mine: MapUi, snapshot: Snapshot) -> StudyMap:
    """What the choices ask for."""
    vary = tuple((axis.name, axis.values) for axis in mine.axes if axis.name)
    measure = mine.measure
    if measure in QUANTITIES:
        curve = of_scene(snapshot, measure, mine.body)
        body = f":{snapshot.labels.bodies[curve.body]}" if curve is not None and curve.body >= 0 else ""
        measure = f"{measure}{body}:{mine.statistic}"
    return StudyMap(vary, measure, mine.until)


def _buttons(ui: UiState, mine: MapUi, study: MapStudy | None, wanted: StudyMap, send: Callable[[Command], None]
             ) -> None:
    if study is not None and study.running:
        total = int(np.prod([len(values) for _, values in study.asked.vary]))
        imgui.progress_bar(len(study.points) / total, (12 * ui.font, imgui.get_frame_height()), "")
        imgui.same_line()
        if imgui.button(labelled("Stop##map")):
            send(StudyMap())
    else:
        count = int(np.prod([axis.count for axis in mine.axes if axis.name]))
        imgui.begin_disabled(not wanted.vary or (len(wanted.vary) == 2 and wanted.vary[0][0] == wanted.vary[1][0]))
        if imgui.button(_("Make {n} runs").format(n=count) + f"###Make {count} runs##map"):
            send(wanted)
        imgui.end_disabled()
    imgui.same_line()


def _table_choice(ui: UiState, mine: MapUi, table: SweepTable) -> None:
    """Which parameters of the table are the axes, which values the others have, and what is shown."""
    before = [*mine.axes_of_table], mine.measure_of_table, {**mine.others}
    for k, title in enumerate((_("Across"), _("Upwards"))[: len(mine.axes_of_table)]):
        style.heading(ui, title)
        chosen = _choice(f"##table_axis_{k}", table.numbers, mine.axes_of_table[k])
        if chosen in mine.axes_of_table:  # the two change places
            mine.axes_of_table[mine.axes_of_table.index(chosen)] = mine.axes_of_table[k]
        mine.axes_of_table[k] = chosen
    style.heading(ui, _("Measured"))
    mine.measure_of_table = _choice("##table_measure", table.measures, mine.measure_of_table, str)
    for name, values in table.vary:
        if name not in mine.axes_of_table:
            style.heading(ui, titled(name))
            words = [value if isinstance(value, str) else f"{value:.6g}" for value in values]
            mine.others[name] = words.index(_choice(f"##table_{name}", words, words[mine.others.get(name, 0)], str))
    if before != (mine.axes_of_table, mine.measure_of_table, mine.others):
        mine.study = None


def _choice(label: str, names: Sequence[str], now: str, words: Callable[[str], str] | None = None) -> str:
    """A list of names, in the words for them."""
    words = words or titled
    imgui.set_next_item_width(-1)
    if imgui.begin_combo(label, words(now), imgui.ComboFlags_.height_largest):
        for name in names:
            if imgui.selectable(f"{words(name)}{label}_{name}", name == now)[0]:
                now = name
        imgui.end_combo()
    return now


def _axis(ui: UiState, snapshot: Snapshot, axis: Axis, k: int) -> None:
    """The parameter, and from where to where in how many steps."""
    imgui.set_next_item_width(-1)
    if imgui.begin_combo(f"##map_axis_{k}", titled(axis.name), imgui.ComboFlags_.height_largest):
        if k > 0 and imgui.selectable(labelled("nothing"), not axis.name)[0]:
            axis.name = ""
        for name in parameters(ui, snapshot):
            if imgui.selectable(f"{titled(name)}##{k}", name == axis.name)[0]:
                axis.name = name
                if name in SETTINGS:
                    axis.low, axis.high = _range(name)
        imgui.end_combo()
    if not axis.name:
        return
    given = ((_("from"), "low"), (_("to"), "high"), (_("values"), "count"))
    words = sum(imgui.calc_text_size(label).x + 0.8 * ui.font for label, _ in given)
    wide = min(4.2 * ui.font, (imgui.get_content_region_avail().x - words) / len(given))
    for label, attribute in given:
        imgui.align_text_to_frame_padding()
        style.muted(ui, label)
        imgui.same_line(0, 0.3 * ui.font)
        imgui.set_next_item_width(wide)
        changed, text = imgui.input_text(f"##map_{attribute}_{k}", written(getattr(axis, attribute)))
        number = read_number(text, whole=attribute == "count")
        if changed and not isinstance(number, str) and np.isfinite(number):
            setattr(axis, attribute, min(max(int(number), 2), MOST) if attribute == "count" else float(number))
        imgui.same_line(0, 0.5 * ui.font)
    imgui.new_line()


def _measure(ui: UiState, snapshot: Snapshot, mine: MapUi) -> None:
    imgui.set_next_item_width(-1)
    known = {**{name: name.capitalize() for name in OWN_MEASURES}, **{n: q.title for n, q in QUANTITIES.items()}}
    if imgui.begin_combo("##map_measure", _(known[mine.measure]), imgui.ComboFlags_.height_largest):
        for name, words in known.items():
            if imgui.selectable(labelled(f"{words}##{name}"), name == mine.measure)[0]:
                mine.measure = name
        imgui.end_combo()
    if mine.measure in QUANTITIES:
        curve = of_scene(snapshot, mine.measure, mine.body if mine.body >= 0 else ui.view.selected)
        if curve is not None and curve.body >= 0:
            mine.body = choose_body(ui, snapshot, "map", curve.body)
        for statistic in STATISTICS:
            if style.radio(ui, labelled(f"{statistic}##map"), mine.statistic == statistic):
                mine.statistic = statistic
            imgui.same_line()
        imgui.new_line()
    imgui.align_text_to_frame_padding()
    imgui.text(_("Time of a run"))
    imgui.same_line()
    imgui.set_next_item_width(-1)
    _moved, mine.until = imgui.slider_float("##map_time", mine.until, *TIMES, "%.1f s", imgui.SliderFlags_.logarithmic)


def parameters(ui: UiState, snapshot: Snapshot) -> list[str]:
    """What can be varied: numbers among the settings, and of the selected body, if forces move it."""
    found = [name for name, setting in SETTINGS.items() if setting.kind is float]
    body = ui.view.selected
    if 0 <= body < len(snapshot.model.kind) and movable(snapshot.model.kind[body]):
        found += [f"body.{snapshot.labels.bodies[body]}.{place}"
                  for place in PLACES]
    return found


def titled(name: str) -> str:
    """A parameter in words: "Friction  μ", "ball: velocity x"."""
    if not name:
        return _("nothing")
    if name in SETTINGS:
        return _(SETTINGS[name].slider.label)
    _body, _dot, rest = name.partition(".")
    places = [place for place in PLACES if rest.endswith(f".{place}")]
    body = rest[: -len(places[0]) - 1] if places else rest
    what, _dot, axis = (places[0] if places else "").partition(".")
    return f"{body}: {_(what.replace('_', ' '))} {'xyz'[int(axis)] if axis else ''}".rstrip()


def _range(name: str) -> tuple[float, float]:
    slider = SETTINGS[name].slider
    if name == "h":  # its slider counts steps a second
        return 1.0 / 1000.0, 1.0 / 60.0
    return slider.low, slider.high


# ---------------------------------------------------------------------------------------------------- the map


def table(study: MapStudy) -> Array:
    """(rows, columns) of what was measured: the first parameter across, the second upwards; nan where nothing is."""
    shape = [len(values) for _, values in study.asked.vary]
    found = np.full(int(np.prod(shape)), np.nan)
    found[: len(study.points)] = [point.value for point in study.points]
    return found.reshape(shape[0], -1).T


def ramp(share: float) -> style.Color:
    """The colour of a value that lies so far between the least and the greatest."""
    at = min(max(share, 0.0), 1.0) * (len(RAMP) - 1)
    k = min(int(at), len(RAMP) - 2)
    r, g, b, a = (p + (at - k) * (q - p) for p, q in zip(RAMP[k], RAMP[k + 1], strict=True))
    return r, g, b, a


def _map(ui: UiState, study: MapStudy) -> None:
    """The cells with their scales, the value under the cursor, and what a click opens."""
    found, (across, *upwards) = table(study), study.asked.vary
    with style.font(ui, size=13.0):
        after = "" if np.isnan(study.asked.until) else _(", after {until:g} s").format(until=study.asked.until)
        imgui.text(style.clipped_text(f"{study.asked.measure.replace('_', ' ')}{after}: "
                                      f"{study.scene.title or study.scene.name}", imgui.get_content_region_avail().x))
        x, y = imgui.get_cursor_screen_pos()
        room = imgui.get_content_region_avail()
        left, below = (4.5 * ui.font if upwards else 0.0), 3.2 * ui.font
        rect = x + left, y, room.x - left - 7.0 * ui.font, room.y - below
        _cells(ui, found, rect)
        _scales(ui, across, upwards, rect)
        _key(ui, found, (rect[0] + rect[2] + 1.0 * ui.font, y, 1.2 * ui.font, rect[3]))
    imgui.set_cursor_screen_pos(rect[:2])
    pressed = imgui.invisible_button("cells", rect[2:])
    if imgui.is_item_hovered():
        _point(ui, study, rect, pressed)


def _cells(ui: UiState, found: Array, rect: Rect) -> None:
    x, y, w, h = rect
    wide, high = max(round(w), 1), max(round(h), 1)
    unknown = style.colors(ui).raised

    def made() -> tuple[pictures.Pixels, None]:
        rows, columns = found.shape
        least, greatest = bounds(found)
        shares = np.linspace(0.0, 1.0, 256)
        colors = np.array([*map(ramp, shares), unknown])
        at = np.where(np.isnan(found), 256, np.rint(255 * (found - least) / (greatest - least)))[::-1]
        cells = np.rint(255 * colors).astype(np.uint8)[np.nan_to_num(at, nan=256).astype(int)]
        across, down = np.arange(wide) * columns // wide, np.arange(high) * rows // high
        return cells[down[:, None], across], None

    shown = pictures.picture(ui, "sweep_map", (found.tobytes(), found.shape, wide, high, unknown), made)
    pictures.draw(shown, x, y, wide, high)


def bounds(found: Array) -> tuple[float, float]:
    """The least and the greatest value, never equal."""
    known = found[np.isfinite(found)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    return low, high if high > low else low + max(abs(low), 1.0) * 1e-9


def _scales(ui: UiState, across: tuple[str, tuple[float, ...]], upwards: list[tuple[str, tuple[float, ...]]],
            rect: Rect) -> None:
    """The least and the greatest value of each parameter at the edges, and its name between them."""
    x, y, w, h = rect
    draw, ink, small = imgui.get_window_draw_list(), style.u32(style.colors(ui).muted), 0.3 * ui.font
    name, values = across
    for text, share in ((f"{values[0]:.4g}", 0.0), (titled(name), 0.5), (f"{values[-1]:.4g}", 1.0)):
        wide = imgui.calc_text_size(text).x
        draw.add_text((x + share * (w - wide), y + h + small), ink, text)
    for name, values in upwards:
        for text, share in ((f"{values[-1]:.4g}", 0.0), (f"{values[0]:.4g}", 1.0)):
            draw.add_text((x - imgui.calc_text_size(text).x - small, y + share * (h - ui.font)), ink, text)
        draw.add_text((x, y + h + small + 1.3 * ui.font), ink, _("upwards: {name}").format(name=titled(name)))


def _key(ui: UiState, found: Array, rect: Rect) -> None:
    """The colours beside the map, with the least and the greatest value."""
    x, y, w, h = rect
    draw, ink = imgui.get_window_draw_list(), style.u32(style.colors(ui).text)
    for k in range(len(RAMP) - 1):
        top, bottom = style.u32(RAMP[-1 - k]), style.u32(RAMP[-2 - k])
        p, q = (x, y + h * k / (len(RAMP) - 1)), (x + w, y + h * (k + 1) / (len(RAMP) - 1))
        draw.add_rect_filled_multi_color(p, q, top, top, bottom, bottom)
    if np.isfinite(found).any():
        for value, at in ((np.nanmax(found), y), (np.nanmin(found), y + h - ui.font)):
            draw.add_text((x + w + 0.3 * ui.font, at), ink, f"{value:.4g}")


def _point(ui: UiState, study: MapStudy, rect: Rect, pressed: bool) -> None:
    """What the cell under the cursor says; a click opens its run."""
    x, y, w, h = rect
    mouse = imgui.get_mouse_pos()
    names = [name for name, _ in study.asked.vary]
    sizes = [len(values) for _, values in study.asked.vary]
    j = min(int((mouse.x - x) / w * sizes[0]), sizes[0] - 1)
    i = min(int((y + h - mouse.y) / h * sizes[1]), sizes[1] - 1) if len(sizes) > 1 else 0
    at = [j, i][: len(sizes)]
    values = [choices[k] for k, (_, choices) in zip(at, study.asked.vary, strict=True)]
    number = j * (sizes[1] if len(sizes) > 1 else 1) + i
    lines = [f"{titled(name)} = {value:.6g}" for name, value in zip(names, values, strict=True)]
    if number < len(study.points):
        point = study.points[number]
        lines.append(_("failed: {reason}").format(reason=point.reason) if point.reason else
                     _("not known") if np.isnan(point.value) else f"{study.asked.measure}: {point.value:.6g}")
    imgui.set_tooltip("\n".join([*lines, _("A click opens this run.")]))
    if pressed:
        ui.request("open_run", (study, tuple(values)))
