"""The window: opens at once, feeds input to panels and view, draws at most 60 times a second, sleeps when idle."""

import math
import sys
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
import pyglet
from imgui_bundle import imgui
from pyglet import gl
from pyglet.window import key

from ...physics.core.language import _
from ...physics.run.journal import Journal
from ...physics.run.messages import Focus, Pause, Snapshot
from ...physics.scene.mesh_files import NAMES
from .. import commands
from ..inspected import with_forces
from ..keys import OF_PANELS, command_for
from ..lab import Lab
from ..machine import system_scale
from ..panels import style
from ..panels.gizmo import draw_handles, draw_marks
from ..panels.guard import attempt, sentence
from ..panels.layout import VIEW, draw_ui
from ..panels.split import Split, row_of, shown
from ..panels.stage import Detail
from ..panels.view import NOTICE_PREFIX
from ..record.encoder import Frame
from ..stopping import Stopped
from ..ui_state import Failure, Preferences, Rect, UiState
from ..view import picking
from ..view.imgui_backend import Gui
from ..view.programs import quality
from .edit_mouse import EditMouse
from .file_dialogs import FileDialogs
from .file_drops import DropWindow
from .filming import Filming, Pixels
from .frame_rate import FrameRate
from .lists import Lists
from .mouse import Mouse
from .place_mouse import PlaceMouse
from .pyglet_input import BUTTON_NAMES, Input, modifier_names
from .spare_time import draw_in_spare_time
from .view_alone import PanelTimes, is_kept
from .waiting import alive_until

TITLE = "Contactlab"
FRAME = 1.0 / 60.0
LIVELY = 24           # frames drawn at full rate after the last input, for hover effects and panels to settle
REST = 0.25           # [s] without drawing after an error of the window itself
LAZY = 0.25           # [s] between frames when nothing happens
FIRST = 0.1           # [s] between frames before there is a scene to show
DOUBLE_CLICK = 0.35   # [s]
TEXT_KEYS = ("A", "C", "V", "X", "Y", "Z")  # with Ctrl, in a field of text


class Window(DropWindow):
    """pyglet's window with our panels; the `Host` of a Lab."""

    lab: Lab | None = None  # before it is there, errors of the window end the program

    def __init__(self, preferences: Preferences) -> None:
        config = pyglet.gl.Config(double_buffer=True, major_version=3, minor_version=3,
                                  forward_compatible=sys.platform == "darwin")
        screen = pyglet.display.get_display().get_default_screen()
        preferences.suit(system_scale(screen))
        super().__init__(
            min(preferences.width, screen.width), min(preferences.height, screen.height), TITLE, resizable=True,
            file_drops=True, vsync=True, config=config,
        )
        self.set_minimum_size(640, 420)
        if preferences.maximized:
            self.maximize()
        self.ui = UiState(preferences=preferences)
        self.ui.view.dark, self.ui.view.still = preferences.dark, preferences.reduced_motion
        self.ctx = moderngl.create_context(require=330)
        self.ui.software = quality(self.ctx).software
        if self.ui.software:
            draw_in_spare_time()
        self.screen_buffer = self.ctx.detect_framebuffer()
        self.gui = Gui(self.ctx, self.get_size())
        self.ui.bold = self.gui.bold
        self.feed = Input(self, self.gui.io)
        self.stage = Split(self.ctx)
        self.detail = Detail()
        self._mice: tuple[Mouse, EditMouse, PlaceMouse] | None = None
        self.filming = Filming(self.ctx, self.ui, self._read_screen, lambda: (0, 0, *self.get_framebuffer_size()),
                               self._view_pixels)
        self.runner: Any = None    # a Runner, or what stands for one in another process
        self._awaited: Future[None] | None = None  # before the engine starts
        self.journal: Journal | None = None
        self._lists = Lists(self.ui)
        self._dialogs = FileDialogs(self.ui)
        self._cursor_at = (-1.0, -1.0)
        self._mouse_side = 0                       # of a comparison: in which the mouse is, and where that lies
        self._mouse_rect: Rect = (0.0, 0.0, 1.0, 1.0)
        self._last_click = (0.0, "", -9.0, -9.0)
        self._keeps = self.ui.software and is_kept(self, self.screen_buffer)  # what a frame drew
        self._last_draw, self._panels = time.perf_counter(), PanelTimes()
        self._rate = FrameRate(self._last_draw)
        self._failed = -REST
        self._blind = True         # the last frame was not drawn to its end
        self._quit = False
        self._asked: list[Stopped] = []            # the signals that came
        self._lively = LIVELY
        self._early_text = ""
        self._stale = True
        self._draw_frame(0.0)  # something is on the screen before the engine loads

    def begin(self, runner: Any, log: Any, awaited: Future[None] | None = None) -> None:
        """Start the clock, and the engine; after `awaited`, where there is something to wait for."""
        self.runner = runner
        self.lab = Lab(runner, self.ui, self, log)
        self.lab.graphics = f"{self.ctx.info['GL_RENDERER']}, OpenGL {self.ctx.info['GL_VERSION']}"
        self._mice = Mouse(self.lab, self._pick), EditMouse(self.lab, self._pick), PlaceMouse(self.lab, self._pick)
        self._awaited = awaited
        if awaited is None:
            runner.start()
        pyglet.clock.schedule_interval(self._tick, FRAME)

    def wait_for(self, work: Future[Any], words: str, asked: list[Stopped]) -> bool:
        """Stay alive until the work is done, and say what it is where it takes long. False where the user quits, or a
        signal is `asked`, before."""
        def show() -> None:
            self.ui.progress = words, 1.0
            self._draw_frame(FRAME)

        return alive_until(work, lambda: bool(asked) or self._quit, self.dispatch_events, show)

    def end(self) -> None:
        """Finish the recording and stop the clock and the engine."""
        pyglet.clock.unschedule(self._tick)
        self.filming.stop(self.lab)
        if self.lab is not None:
            self.lab.close()
        if self.runner is not None:
            self.runner.stop()
        if self.journal is not None:
            self.journal.close(keep=self._blind)
        self.filming.release()
        self.gui.use()
        self.stage.release()
        self.gui.release()
        self.close()

    def leave(self, why: str, preferences: Path) -> None:
        """Keep what there is where the process has to end and nothing can be drawn."""
        print(f"contactlab: {why}", file=sys.stderr)
        self.filming.abandon()
        self.keep_settings(preferences)

    def keep_settings(self, path: Path) -> None:
        if self.lab is not None:
            self.lab.teaching.leave()
        try:
            self.ui.preferences.save(path)
        except OSError as error:
            print(f"contactlab: the settings could not be saved: {error}", file=sys.stderr)

    # ------------------------------------------------------------------------------------------- the loop

    def dispatch_event(self, *args: Any) -> Any:
        try:
            return super().dispatch_event(*args)
        except Exception as error:
            self._rescue(error)

    def stay(self, asked: list[Stopped]) -> None:
        """Run until the user quits or a signal is `asked`: an error of the loop itself is told like any other."""
        self._asked = asked
        while not self._quit:
            try:
                pyglet.app.run(interval=None)
                return
            except Exception as error:
                self._rescue(error)

    def _tick(self, dt: float) -> None:
        """Once a frame; after an error after a rest, which leaves time for the user's input. None before the end."""
        if self._asked:
            self.quit()
        if self._quit or time.perf_counter() - self._failed < REST:
            return
        try:
            self._proceed(dt)
        except Exception as error:
            self._rescue(error)

    def _rescue(self, error: Exception) -> None:
        """An error outside of all panels: pause the run and say what failed. Nothing but the user ends the program."""
        if self.lab is None:
            raise error
        self._failed = time.perf_counter()
        self.gui.use()
        self.gui.abandon()
        self.lab.send(Pause())
        failure = Failure(_("The window failed: {error}").format(error=sentence(error)),
                          "".join(traceback.format_exception(error)))
        if failure != self.ui.failure:
            self.lab.note("failure", traceback=failure.traceback)
        if self._blind and self.caption == TITLE:  # what OpenGL does not draw: the title bar, and the terminal
            self.set_caption(f"{TITLE} cannot draw ({sentence(error)}). The run is paused and kept.")
            print(f"contactlab: {self.caption}", file=sys.stderr)
        self.ui.tell(failure.sentence + _(" The run is paused; nothing is lost, and it can go on."), failure)

    def _proceed(self, dt: float) -> None:
        """Take what the engine has, draw if anything changed."""
        lab = self.lab
        assert lab is not None
        now = time.perf_counter()
        self.ui.clock = now
        new = lab.update()
        self._poll()
        moving = lab.move_camera(min(dt, 0.1))
        due = True
        if (take := self.filming.take) is not None and lab.snapshot is not None:
            due = take.advance(lab.snapshot, lab.engine.send, now)
            if not due and now - self._last_draw < FRAME:
                return
        asked = self._stale or self._lively > 0 or take is not None
        if lab.snapshot is None and now - self._last_draw < FIRST:
            return  # what draws now holds up what there will be to draw
        lively = new or moving or asked
        if lively and not asked and self._panels_can_wait(now, lab):
            self._draw_view_alone(moving)
        elif lively or now - self._last_draw > LAZY:
            self._draw_frame(dt, moved=moving, capture=due)
        else:
            return
        self.ui.frames_per_second = self._rate.note(now, lively)

    def _panels_can_wait(self, now: float, lab: Lab) -> bool:
        ui, seen = self.ui, lab.snapshot
        busy = ui.progress is not None or ui.workbench.on or ui.boxes_open or VIEW in ui.failures or self._blind
        return (not busy and seen is not None and self._panels.can_wait(now, seen)
                and not self.stage.labels_strayed(seen, lab.camera, ui))

    def _poll(self) -> None:
        """Take what was done beside the window, where it is ready: the engine may start, lists are read, a file is
        chosen."""
        assert self.lab is not None and self.gui.store is not None
        if self._awaited is not None and self._awaited.done():
            self._awaited = None
            self.runner.start()
        self._stale = self._lists.poll(self.ctx, self.gui.store) or self._stale
        self._dialogs.poll()

    def _draw_frame(self, dt: float, moved: bool = False, capture: bool = False) -> None:
        now = time.perf_counter()
        lab, ui = self.lab, self.ui
        self.switch_to()
        self.gui.use()
        self.gui.new_frame(max(now - self._panels.last, 1e-3))
        self._last_draw, self._stale, self._blind = now, False, True
        self._lively = max(self._lively - 1, 0)
        snapshot = lab.snapshot if lab is not None else None
        self._panels.drawn(now, snapshot)
        ui.recording = self.filming.status
        draw_ui(ui, snapshot, lab.send if lab is not None else print)
        height, ratio = self.get_framebuffer_size()[1], self._ratio()
        style.fill(self.screen_buffer, ui, height, ratio)
        if lab is not None and snapshot is not None:
            factor = self._detail(snapshot, moved)
            if VIEW not in ui.failures:
                attempt(ui, VIEW, lambda: self._draw_view(snapshot, lab, height, ratio, factor))
            gl.glFlush()  # without the interpreter's lock, which moderngl keeps: a software renderer works here
        self.feed.show_cursor()
        self.gui.finish(self.screen_buffer, NOTICE_PREFIX, lambda: self.filming.capture(capture, now, self.gui.store))
        self.flip()
        if lab is not None and snapshot is not None:
            self.filming.capture_again(capture, now, self._shown(snapshot), lab)
            self.gui.use()
            self._lists.begin()
        self._blind = False
        if self.caption != TITLE:
            self.set_caption(TITLE)
        self.detail.note(time.perf_counter() - now)
        if self._early_text and not self._awaits_text:
            self.feed.text(self._early_text)
            self._early_text = ""
        self._serve_requests()

    def _detail(self, snapshot: Snapshot, moved: bool) -> float:
        return self.detail.factor if self.filming.take is None and (moved or not snapshot.paused) else 1.0

    def _draw_view_alone(self, moved: bool) -> None:
        """A frame of the run between two of the panels, which stay as they are."""
        now, lab = time.perf_counter(), self.lab
        assert lab is not None and lab.snapshot is not None
        snapshot, height, ratio = lab.snapshot, self.get_framebuffer_size()[1], self._ratio()
        self.switch_to()
        self.gui.use()
        self._last_draw, self._blind = now, True
        self._panels.left()
        if not self._keeps:
            style.fill(self.screen_buffer, self.ui, height, ratio)
        try:
            self._draw_view(snapshot, lab, height, ratio, self._detail(snapshot, moved), True)
        except Exception:  # the next frame has panels to tell it
            self._stale = True
        gl.glFlush()
        rects = self.stage.rects(snapshot) if self._keeps else [(0, 0, *self.get_framebuffer_size())]
        self.gui.draw_again(self.screen_buffer, rects)
        self.flip()
        self._blind = False
        self.detail.note(time.perf_counter() - now)

    def _draw_view(self, snapshot: Snapshot, lab: Lab, height: int, ratio: float, factor: float, alone: bool = False
                   ) -> None:
        """The picture in 3-D, what is under the cursor, and the labels. alone: these are as in the last frame."""
        self._hover()
        snapshot = self._shown(snapshot)
        if alone:
            self.stage.render_again(snapshot, lab.camera, self.ui, self.screen_buffer, height, ratio, factor)
            return
        self.stage.render(snapshot, lab.camera, self.ui, self.screen_buffer, height, ratio, factor)
        self.stage.write(snapshot, lab.camera, self.ui)
        draw_marks(self.ui, lab.camera)
        draw_handles(self.ui, snapshot, lab.camera)

    def _shown(self, snapshot: Snapshot) -> Snapshot:
        """As the view shows it: with the forces that a tab shows, and what the workbench moves or hides."""
        return self.ui.workbench.shown(with_forces(self.ui, snapshot))

    def _serve_requests(self) -> None:
        """Carry out what the panels asked for."""
        while self.lab is not None and self.ui.requests:
            request = self.ui.requests.pop(0)
            commands.run(self.lab, request.command, request.argument)
            self._stale = True

    # ------------------------------------------------------------------------------------------ recording

    def _read_screen(self, rect: Pixels) -> Frame:
        x, y, w, h = rect
        pixels = self.screen_buffer.read(viewport=(x, y, w, h), components=3, alignment=1)
        _ = self.ctx.error  # moderngl names a buffer that a window does not have; pyglet would trip over the error
        return np.frombuffer(pixels, np.uint8).reshape(h, w, 3)[::-1]

    def _ratio(self) -> float:
        """Pixels of the framebuffer in a unit of the window. (pyglet's own ratio is the display's factor, also where
        windows count in pixels.)"""
        return self.get_framebuffer_size()[0] / max(self.get_size()[0], 1)

    def _view_pixels(self) -> Pixels:
        width, height = self.get_framebuffer_size()
        ratio = self._ratio()
        x, y, w, h = (round(v * ratio) for v in self.ui.view_rect)
        x, top = max(x, 0), max(y, 0)
        w, h = min(w, width - x), min(h, height - top)
        return x, height - top - h, w, h

    def _stem(self) -> str:
        name = self.lab.snapshot.scene_name if self.lab is not None and self.lab.snapshot is not None else "contactlab"
        return "".join(c if c.isalnum() or c in "-_" else "_" for c in Path(name).stem) or "contactlab"

    def toggle_recording(self) -> None:
        if self.lab is not None:
            self.filming.toggle(self.lab, self._stem())

    # ----------------------------------------------------------------------------------------------- host

    def screenshot(self) -> None:
        self.filming.want_picture(self._stem())

    def toggle_fullscreen(self) -> None:
        self.set_fullscreen(not self.fullscreen)

    def copy(self, text: str) -> None:
        self.gui.use()
        imgui.set_clipboard_text(text)

    def choose_new_file(self, suggested: Path) -> None:
        self._dialogs.ask_for_a_new_file(suggested)

    def picture_for(self, scene: Path) -> None:
        self.filming.want_thumbnail(scene)

    def quit(self) -> None:
        self._quit = True
        pyglet.app.exit()

    def choose_file(self) -> None:
        self._dialogs.ask_for_a_file()

    def choose_mesh(self) -> None:
        self._dialogs.ask_for_a_mesh()

    # ---------------------------------------------------------------------------------------------- mouse

    @property
    def mouse(self) -> Mouse | None:
        """The mouse of the run, of the workbench, or of a question that is answered in the view."""
        if self._mice is None:
            return None
        return self._mice[2 if self.ui.course.places else int(self.ui.workbench.on)]

    def _pick(self, origin: np.ndarray, direction: np.ndarray, without: Sequence[int]) -> Any:
        snapshot = self._under_mouse
        return None if snapshot is None else picking.pick(snapshot.model, snapshot, origin, direction, without)

    @property
    def _under_mouse(self) -> Snapshot | None:
        """Of the side that the mouse was in last."""
        snapshot = self.lab.snapshot if self.lab is not None else None
        if snapshot is None:
            return None
        sides = shown(snapshot)
        return sides[min(self._mouse_side, len(sides) - 1)]

    def _in_view(self, x: float, y: float) -> tuple[float, float] | None:
        """Position in the view of a side, y down, where it lies open under window position (x, y), y up. While the
        mouse drags nothing it is this side's from here on."""
        ui, margin = self.ui, 4.0
        if self.lab is None or self.lab.snapshot is None or self.mouse is None:
            return None
        rects = ui.side_rects(len(self.lab.snapshot.sides) or 1)
        inside = None
        for k, (vx, vy, vw, vh) in enumerate(rects):
            px, py = x - vx, self.height - y - vy
            if margin <= px <= vw - margin and margin <= py <= vh - margin:
                inside = k, px, py
        if inside is None:
            return None
        side, px, py = inside
        boxes = ui.boxes_open or ui.tour or ui.progress or imgui.is_popup_open("", imgui.PopupFlags_.any_popup)
        if ui.over_button or (boxes and self.gui.io.want_capture_mouse):
            return None
        if not self.mouse.busy:
            self._mouse_side, self._mouse_rect = side, rects[side]
            self.mouse.size, self.mouse.side = rects[side][2:], side
        return px, py

    def _hover(self) -> None:
        """What is under the cursor: for the status bar, and the contact to light."""
        lab, mouse, ui = self.lab, self.mouse, self.ui
        assert lab is not None and mouse is not None and lab.snapshot is not None
        place = self._in_view(*self._cursor_at)
        if ui.hover_from_view:
            ui.hovered_key, ui.hover_from_view = None, False
        if place is None:
            ui.under_cursor = ""
        elif not mouse.busy:
            mouse.hover(*place)
            seen = self._under_mouse or lab.snapshot
            row = picking.pick_contact(seen, lab.camera, *place, *mouse.size)
            if row >= 0:
                ui.hovered_key, ui.hover_from_view = int(seen.contacts.key[row]), True
        ui.view.hovered_contact = row_of(lab.snapshot, ui.hovered_key)

    def _touched(self) -> None:
        self._lively = LIVELY

    def on_mouse_motion(self, x: int, y: int, dx: int, dy: int) -> None:
        self._touched()
        self._cursor_at = float(x), float(y)
        self.feed.motion(x, y)

    def on_mouse_drag(self, x: int, y: int, dx: int, dy: int, buttons: int, modifiers: int) -> None:
        self.on_mouse_motion(x, y, dx, dy)
        if self.mouse is not None and self.mouse.busy:
            vx, vy, _, _ = self._mouse_rect
            self.mouse.drag(x - vx, self.height - y - vy, dx, -dy)

    def on_mouse_press(self, x: int, y: int, button: int, modifiers: int) -> None:
        self.on_mouse_motion(x, y, 0, 0)
        self.ui.by_keys = False
        self.feed.modifiers(modifiers)
        self.feed.button(button, True)
        place = self._in_view(x, y)
        if place is None or self.mouse is None:
            return
        name = BUTTON_NAMES.get(button, "")
        self._focus()
        now = time.perf_counter()
        then, before, bx, by = self._last_click
        if now - then < DOUBLE_CLICK and before == name and math.hypot(x - bx, y - by) < 5:
            self._last_click = (0.0, "", 0.0, 0.0)
            self.mouse.double_click(*place, name)
            return
        self._last_click = (now, name, x, y)
        self.mouse.press(*place, name, modifier_names(modifiers))

    def _focus(self) -> None:
        """Put the side in focus that the mouse is in."""
        assert self.lab is not None
        snapshot = self.lab.snapshot
        if snapshot is not None and snapshot.sides and snapshot.side != self._mouse_side:
            self.lab.send(Focus(self._mouse_side))

    def on_mouse_release(self, x: int, y: int, button: int, modifiers: int) -> None:
        self._touched()
        self.feed.button(button, False)
        if self.mouse is not None and self.mouse.busy:
            self.mouse.release()

    def on_mouse_scroll(self, x: int, y: int, scroll_x: float, scroll_y: float) -> None:
        self._touched()
        place = self._in_view(x, y)
        if place is not None and self.mouse is not None:
            self.mouse.wheel(*place, scroll_y)
        else:
            self.feed.wheel(scroll_x, scroll_y)

    def on_mouse_leave(self, x: int, y: int) -> None:
        self._cursor_at = (-1.0, -1.0)
        self.feed.leave()

    def on_file_drop(self, x: int, y: int, paths: list[str]) -> None:
        self._touched()
        if self.lab is not None and paths:
            if self.ui.workbench.on and Path(paths[0]).suffix.lower() in NAMES:
                commands.run(self.lab, "add_mesh_file", paths[0])
                if len(paths) > 1:
                    self.ui.say(_("Meshes are added one at a time while a scene is edited: {name}.").format(
                        name=Path(paths[0]).name), 6.0)
            else:
                commands.run(self.lab, "open_paths", paths)

    # ----------------------------------------------------------------------------------------------- keys

    def on_key_press(self, symbol: int, modifiers: int) -> None:
        self._touched()
        self.feed.key(symbol, modifiers, True)
        held = modifier_names(modifiers)
        writing = (self.gui.io.want_text_input or self._awaits_text) and "Ctrl" not in held
        if self.lab is None or (writing and symbol != key.ESCAPE and not key.F1 <= symbol <= key.F12):
            return
        name = command_for(key.symbol_string(symbol), held)
        if self.gui.io.want_text_input and key.symbol_string(symbol) in TEXT_KEYS:
            return  # copy, paste and undo of what is typed
        if self.ui.by_keys and key.symbol_string(symbol) in OF_PANELS and "Ctrl" not in held:
            return
        if name is not None:
            commands.run(self.lab, name)
            self._stale = True

    def on_key_release(self, symbol: int, modifiers: int) -> None:
        self._touched()
        self.feed.key(symbol, modifiers, False)

    @property
    def _awaits_text(self) -> bool:
        """A box that takes text was opened, but no frame has put the cursor into it yet."""
        asked = self.ui.palette.open or self.ui.save_box or bool(self.ui.open_box)
        return asked and not self.gui.io.want_text_input

    def on_text(self, text: str) -> None:
        self._touched()
        if self._awaits_text:
            self._early_text += text
        else:
            self.feed.text(text)

    # --------------------------------------------------------------------------------------------- window

    def on_resize(self, width: int, height: int) -> None:
        if not hasattr(self, "gui"):
            return
        self.screen_buffer = self.ctx.detect_framebuffer(0)
        self.gui.use()
        self.gui.resize((width, height), self.get_framebuffer_size())
        if not self.fullscreen:
            self.ui.preferences.width, self.ui.preferences.height = width, height
        self._touched()

    def on_expose(self) -> None:
        self._stale = True

    def on_activate(self) -> None:
        self.feed.focus(True)

    def on_deactivate(self) -> None:
        self.feed.focus(False)
        if self.mouse is not None and self.mouse.busy:
            self.mouse.release()

    def on_close(self) -> None:
        if self.lab is None:
            self.quit()
        else:
            commands.run(self.lab, "quit")
            self._touched()
