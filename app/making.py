"""Making scenes: what the commands of the workbench do with engine, files and window."""

import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from ..physics.core.language import _
from ..physics.run.messages import Command, Compare, Open, Pause, Snapshot, Undo
from ..physics.run.run_file import read_packed
from ..physics.scene import edits
from ..physics.scene.document import Document
from ..physics.scene.form import Location
from ..physics.scene.instant import begin_at
from ..physics.scene.mesh_files import NAMES
from ..physics.scene.refusals import SceneError
from ..physics.scene.scene import Scene
from .keys import key_of
from .scene_files import ChangedMeanwhile, Draft, SavedFile, Work, entry_of, my_scenes
from .ui_state import Question, Request, UiState
from .workbench import Built, text_of

KEPT_EVERY = 0.5  # [s] between two writings of what no file has
TOOLS = ("move", "turn", "scale", "velocity", "spin")
INSTALLED = "assets"  # folder of the gallery's scenes, which nobody writes to


class Host(Protocol):
    """What only a window can do."""

    def choose_new_file(self, suggested: Path) -> None: ...
    def picture_for(self, scene: Path) -> None: ...
    def quit(self) -> None: ...


class Making:
    """The workbench of `ui`, at work."""

    def __init__(self, ui: UiState, send: Callable[[Command], None], host: Host) -> None:
        self.ui, self.host = ui, host
        self.scene: Scene | None = None  #: that runs, where it can be edited
        self.draft: Draft | None = None  #: where unsaved work is kept
        self.keeps_view = False          #: the scene sent last is another version of the one before
        self._send = send
        self._file = SavedFile()
        self._edited: Scene | None = None  # the scene that the workbench has
        self._sent = Built("")             # that the engine has
        self._leaving: bool | None = None  # once the present version is checked: whether it then plays
        self._kept, self._kept_at = "", 0.0
        self._lost: list[Work] = []

    # ------------------------------------------------------------------------------------------- mode

    def toggle(self, snapshot: Snapshot | None) -> None:
        if self.ui.workbench.on:
            self.leave()
        else:
            self.enter(snapshot)

    def enter(self, snapshot: Snapshot | None) -> None:
        """Stop time at the start of the scene, and edit it."""
        bench = self.ui.workbench
        if self.scene is None:
            self.ui.say(_("What runs here has no scene that could be edited."))
            return
        if self._edited is not self.scene:
            text, saved = text_of(self.scene)
            own = self.scene.path if saved and INSTALLED not in self.scene.path.parts else None  # pyright: ignore
            bench.begin(text, own, self.scene.folder, True)
            self._file.read(own)
            self._edited = self.scene
        bench.on, self.keeps_view = True, True
        self._send(Pause())
        if snapshot is not None and snapshot.sides:
            self._send(Compare(()))
        self._sent = Built("")

    def leave(self, play: bool = False) -> None:
        """Let the scene run as it is now, from its start."""
        bench = self.ui.workbench
        if bench.placing is not None:
            bench.drop_placing()
        bench.preview = None
        if bench.pending:
            self._leaving = play  # as soon as it is checked
            return
        self._leaving = None
        if bench.problems or bench.built.scene is None:
            self.ui.say(_("The scene cannot run yet: see what is red in the inspector."), 6.0)
            return
        bench.on, self.keeps_view, bench.runs = False, True, True
        self.scene = self._edited = bench.built.scene
        self._send(Open(self.scene, paused=not play))

    def opened(self, scene: Scene | None) -> None:
        """Another scene runs now."""
        bench = self.ui.workbench
        self.scene, self.keeps_view = scene, False
        bench.on, bench.chosen, bench.runs = False, (), False
        self._drop_draft()

    def update(self) -> None:
        """Send what has been checked to the engine, and keep what no file has."""
        bench = self.ui.workbench
        bench.check()
        if bench.on and bench.built.scene is not None and bench.built is not self._sent:
            self._sent = bench.built
            self._send(Open(bench.built.alone, paused=True))
        if self._leaving is not None and not bench.pending:
            self.leave(self._leaving)
        if bench.on:
            rows = bench.rows_of(bench.bodies)
            self.ui.view.selected, self.ui.view.also = (rows[0], tuple(rows[1:])) if rows else (-1, ())
        else:
            self.ui.view.also = ()
        self._keep()

    # ------------------------------------------------------------------------------------------- edits

    def undo(self, step: int, snapshot: Snapshot | None) -> None:
        """Take the last change back (1), or make it again (-1): of the run, and before its first change the last edit
        of the scene; of the scene while it is edited."""
        bench = self.ui.workbench
        of_run = ("", "") if snapshot is None else snapshot.changes
        which = 0 if step > 0 else 1
        name = bench.changes(of_run)[which]
        if not name:
            self.ui.say(_("There is nothing to undo.") if step > 0 else _("There is nothing to do again."))
            return
        if not bench.on and of_run[which]:
            self._send(Undo(step))
        else:
            if not bench.on:
                self.enter(snapshot)
            (bench.undo if step > 0 else bench.redo)()
        self.ui.say(f"{_('Undone') if step > 0 else _('Done again')}: {name}.")

    def copies(self, name: str, change: Callable[[Document, Sequence[int]], list[int]]) -> None:
        """Make copies of the chosen bodies, and choose these."""
        bench = self.ui.workbench
        if bench.on and bench.bodies:
            chosen = tuple(bench.bodies)
            made = self.ui.edit(f"{name} {bench.called(chosen)}", lambda document: change(document, chosen))
            if made:
                bench.choose(*(("body", place) for place in made))

    def add(self, kind: str) -> None:
        """A body of a shape that follows the cursor until a click puts it down."""
        if self.ui.workbench.on:
            self.ui.workbench.begin_placing({"type": kind, **edits.FIRST[kind]})
        else:
            self.ui.say(_("Bodies are added while the scene is edited: Ctrl+E."))

    def duplicate(self) -> None:
        """Copies of the chosen bodies, beside them."""
        step = self.ui.workbench.extent(self.ui.workbench.bodies)[0]
        self.copies(_("Duplicate"), lambda d, chosen: edits.duplicate(d, chosen, [[step, 0.0, 0.0]]))

    def mirror(self, axis: int) -> None:
        """Mirror images of the chosen bodies in the plane across x, y or z that the tools say."""
        through = self.ui.workbench.tools.mirror
        self.copies(_("Mirror across {value}").format(value="xyz"[axis]),
                    lambda d, chosen: edits.mirror(d, chosen, axis, through))

    def delete(self) -> None:
        """Remove what is chosen."""
        bench = self.ui.workbench
        if not bench.on or not bench.chosen:
            return
        bodies, others = bench.bodies, [place for place in bench.chosen if place[0] != "body" or len(place) != 2]
        if bodies:
            self.ui.edit(_("Delete {bodies}").format(bodies=bench.called(bodies)), lambda d: edits.delete(d, bodies))
        for place in others:
            if len(place) > 1:
                self.ui.edit(_("Delete {document}").format(document=named(bench.document, place)), 
                             lambda d, place=place: d.remove(place))
        bench.choose()

    def group(self) -> None:
        """Let the chosen bodies be a group; those that are one already are none any more."""
        bench, chosen = self.ui.workbench, self.ui.workbench.bodies
        if not bench.on or not chosen:
            return
        before = {bench.document.get(("body", k, "group")) for k in chosen}
        if len(before) == 1 and None not in before:
            self.ui.edit(_("Ungroup {chosen}").format(chosen=bench.called(chosen)), lambda d: edits.ungroup(d, chosen))
        else:
            self.ui.edit(_("Group {chosen}").format(chosen=bench.called(chosen)), lambda d: edits.group(d, chosen))

    def choose_groups(self) -> None:
        """Choose all bodies of the groups of those that are chosen."""
        bench = self.ui.workbench
        if bench.on:
            bench.choose(*(("body", k) for k in bench.with_groups(bench.bodies)))

    def hide(self) -> None:
        """Do not draw the chosen bodies while the scene is edited; without any, draw all again."""
        bench = self.ui.workbench
        known = edits.names(bench.document)
        chosen = {known[k] for k in bench.bodies if k < len(known)}
        if not bench.on:
            return
        if not chosen:
            bench.hidden = set()
        elif chosen <= bench.hidden:
            bench.hidden = bench.hidden - chosen
        else:
            bench.hidden = bench.hidden | chosen
            bench.choose()
            self.ui.say(_("Hidden while the scene is edited; {value} with nothing chosen shows all "
                          "again.").format(value=key_of('hide')))

    def add_mesh(self, path: str | Path) -> None:
        """A body of a mesh file that follows the cursor until a click puts it down. The file is used where it lies,
        as long as no other file binds the scene to its folder; else it is copied there."""
        bench, path = self.ui.workbench, Path(path)
        if not bench.on:
            self.ui.say(_("Bodies are added while the scene is edited: Ctrl+E."))
            return
        if path.suffix.lower() not in NAMES:
            self.ui.tell(_("{name} is no mesh: a file that ends in {NAMES}.").format(name=path.name,
                                                                                     NAMES=', '.join(NAMES)))
            return
        try:
            name = self._below(path.resolve(strict=True))
        except OSError as error:
            self.ui.tell(f"{path.name}: {error.strerror or error}.")
            return
        bench.begin_placing({"type": "mesh", "file": name})

    def _below(self, path: Path) -> str:
        """The mesh as the scene names it, below the scene's folder. Raises OSError."""
        bench = self.ui.workbench
        bound = bench.path is not None or (bench.built.scene is not None and bench.built.scene.mesh_files)
        if bench.folder is None or not bound:
            bench.folder = path.parent
        folder = bench.folder.resolve()
        if not path.is_relative_to(folder):
            shutil.copyfile(path, folder / path.name)
            self.ui.say(_("{name} is copied to the scene's folder, {folder}.").format(name=path.name, folder=folder),
                        6.0)
            return path.name
        return path.relative_to(folder).as_posix()

    def hold_bases(self, snapshot: Snapshot | None) -> None:
        """Fix or free what the robots of the scene stand on, and run it so."""
        bench, edited = self.ui.workbench, self.ui.workbench.on
        if not edited:
            self.enter(snapshot)
        held = self.ui.edit(_("Fix or free the base"), edits.hold_bases) if bench.on else None
        if held is not None:
            self.ui.say(_("The base is fixed.") if held else _("The base is free."))
        if not edited and bench.on:
            self.leave(play=True)

    def choose_all(self) -> None:
        bench = self.ui.workbench
        if bench.on:
            bench.choose(*(("body", k) for k in range(len(edits.names(bench.document)))))

    def tool(self, name: str) -> None:
        """One of TOOLS; "next": the one after the present one."""
        tools = self.ui.workbench.tools
        tools.tool = TOOLS[(TOOLS.index(tools.tool) + 1) % len(TOOLS)] if name == "next" else name

    # --------------------------------------------------------------------------------------------- files

    def holds(self, request: Request) -> bool:
        """Whether there is unsaved work: then the user is asked about it, and the request made afterwards."""
        bench = self.ui.workbench
        if not bench.unsaved:
            return False
        name = bench.path.name if bench.path is not None else self._title()
        self.ui.question = Question(
            _("Save the changes to {name}?").format(name=name), _("They are in no file yet."),
            ((_("Save"), Request("save_then", request)), (_("Discard"), Request("discard_then", request)),
             (_("Cancel"), None)))
        return True

    def discard_then(self, request: Request) -> None:
        """Give up the unsaved work, and go on."""
        bench = self.ui.workbench
        bench.begin(bench.text, None, None)
        self._edited = None
        self._drop_draft()
        self.ui.requests.append(request)

    def save_then(self, request: Request) -> None:
        """Save, and go on where that was possible."""
        self._afterwards = request
        self.save()

    _afterwards: Request | None = None  # what the user wants once the work is saved

    def new(self) -> None:
        """Begin an empty scene."""
        if self.holds(Request("new_scene")):
            return
        bench = self.ui.workbench
        self.opened(None)
        bench.begin(edits.NEW, None, None)
        bench.on = True
        self._file.read(None)
        self.ui.say(_("A new scene: choose a shape at the left and click where it is to be."), 6.0)

    def take_instant(self, snapshot: Snapshot | None) -> None:
        """Edit a new scene that begins at the instant that is shown."""
        if snapshot is None or self.scene is None or self.ui.workbench.on:
            self.ui.say(_("Pause a run first: its instant becomes the start of a new scene."))
        elif not self.holds(Request("take_instant")):
            scene, text = self.scene, text_of(self.scene)[0]
            try:
                document = Document(text)
                begin_at(document, scene.tables, snapshot.labels, (snapshot.x, snapshot.q, snapshot.v, snapshot.w))
            except SceneError as error:
                self.ui.tell(str(error))
                return
            self.opened(scene)
            self.ui.workbench.begin(document.text, None, scene.folder, saved=False)
            self._edited = scene
            self._file.read(None)
            self.enter(snapshot)
            self.ui.say(_("A new scene that begins at t = {now:.3f} s of {title}.").format(now=snapshot.now,
                                                                                           title=scene.title
                                                                                           or scene.name), 6.0)

    def save(self, beside: bool = False) -> None:
        """Write the scene into its file; without one, ask for it. beside: see `SavedFile.write`."""
        bench = self.ui.workbench
        if bench.path is None:
            self.save_as()
        else:
            self.save_to(bench.path, beside)

    def save_as(self) -> None:
        """Ask for the file that the scene is written into."""
        good = self._good()
        if good is not None and good.scene is not None:
            suffix = ".zip" if good.scene.mesh_files else ".toml"  # with its meshes one file, that can be sent
            self.host.choose_new_file(my_scenes(self.ui.preferences.record_folder) / f"{_stem(self._title())}{suffix}")

    def save_to(self, path: Path, beside: bool = False) -> None:
        """Write the scene into a file; whatever goes wrong is told, and the work is kept."""
        bench, good = self.ui.workbench, self._good()
        if good is None or good.scene is None:
            return
        path = path if path.suffix else path.with_suffix(".toml")
        try:
            kept = self._file.write(good.scene, good.text, path, beside)
        except ChangedMeanwhile:
            self.ui.question = Question(
                _("{name} has changed").format(name=path.name),
                                        _("Another program has written the file since it was opened here. Both can "
                "be kept: yours under this name, the other one beside it."),
                ((_("Keep both"), Request("save_beside")), (_("Save as …"), Request("save_as")), (_("Cancel"), None)))
            return
        except SceneError as error:
            self.ui.tell(_("Not saved, and nothing is lost: {error}").format(error=error))
            return
        bench.mark_saved(path)
        self._drop_draft()
        self.ui.scene_path = path
        self.ui.preferences.remember(str(path))
        self._show_in_gallery(path, good.scene)
        self.host.picture_for(path)
        also = _(" What was in it meanwhile is {name}.").format(name=kept.name) if kept is not None else ""
        self.ui.say(_("Saved {path}.{also}").format(path=path, also=also), 6.0)
        request, self._afterwards = self._afterwards, None
        if request is not None:
            self.ui.requests.append(request)

    def _good(self) -> Built | None:
        """The present version, checked, None where it cannot be saved."""
        bench = self.ui.workbench
        if not bench.on and self._edited is None and self.scene is not None:  # a scene that was only looked at
            self.enter(None)
        while bench.pending:
            bench.check()
            time.sleep(0.001)
        if bench.problems:
            self.ui.tell(_("The scene cannot be saved as it is: ") + "\n".join(bench.problems))
            return None
        return bench.built

    def _title(self) -> str:
        return str(self.ui.workbench.document.get(("scene", "title")) or "scene")

    def _show_in_gallery(self, path: Path, scene: Scene) -> None:
        folder = my_scenes(self.ui.preferences.record_folder)
        if path.parent == folder:
            others = [entry for entry in self.ui.scenes if entry.path != path]
            before = next((entry.thumbnail for entry in self.ui.scenes if entry.path == path), None)
            self.ui.scenes = [*others, entry_of(path, scene)._replace(thumbnail=before)]

    # -------------------------------------------------------------------------------------------- drafts

    def offer(self, lost: list[Work]) -> None:
        """Ask about work that a program left which did not end as it should."""
        self._lost = lost
        if lost:
            when = time.strftime("%d %B %Y, %H:%M", time.localtime(lost[0].written))
            self.ui.question = Question(
                _("Unsaved work was found"),
                                        _("{title}: the program ended before it was saved, on "
                                          "{when}.").format(title=lost[0].title, when=when),
                ((_("Go on with it"), Request("recover")), (_("Discard it"), Request("forget_work"))))

    def recover(self) -> None:
        """Go on with the work that is offered."""
        work = self._lost.pop(0)
        bench = self.ui.workbench
        self.opened(None)
        folder = work.folder
        if work.path is not None and work.path.suffix.lower() == ".zip":  # its meshes were unpacked for that program
            with suppress(SceneError):
                folder = read_packed(work.path).folder
        bench.begin(work.text, work.path, folder, saved=False)
        bench.on = True
        self._file.read(work.path)
        self._keep(now=True)
        work.discard()
        self.offer(self._lost)

    def forget_work(self) -> None:
        """Remove the work that is offered."""
        self._lost.pop(0).discard()
        self.offer(self._lost)

    def _keep(self, now: bool = False) -> None:
        """Write what no file has, now and then."""
        bench, draft = self.ui.workbench, self.draft
        if draft is None or bench.text == self._kept or (time.monotonic() < self._kept_at and not now):
            return
        self._kept, self._kept_at = bench.text, time.monotonic() + KEPT_EVERY
        if bench.unsaved:
            draft.keep(self._title(), bench.text, bench.path, bench.folder)
            if draft.failure:
                self.ui.say(_("Unsaved work is not kept: {failure}.").format(failure=draft.failure))
        else:
            draft.drop()

    def _drop_draft(self) -> None:
        if self.draft is not None:
            self.draft.drop()
        self._kept = self.ui.workbench.text


def named(document: Document, place: Location) -> str:
    """A table as a user knows it: "die 3", "joint 2", "material steel"."""
    if place[0] == "body":
        name = edits.names(document)[int(place[1])]
        return name if len(place) == 2 else f"{place[2]} {int(place[3]) + 1} of {name}" if len(place) > 3 else name
    table = document.get(place)
    own = table.get("name") if isinstance(table, dict) else None
    if own:
        return str(own)
    return " ".join(str(step + 1) if isinstance(step, int) else step for step in place)


def _stem(title: str) -> str:
    return "".join(c if c.isalnum() or c in "-_ " else "_" for c in title).strip().replace(" ", "_") or "scene"
