"""Everything the app can be told to do, by name: keys, menus, buttons and the palette all end here."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..physics.core.language import LANGUAGES, _, use
from ..physics.methods import METHODS
from ..physics.run.messages import Compare, Focus, Reset, SetSpeed, Side, Step, StepToEvent, StudyLinks
from ..physics.scene.edits import FIRST
from .lab import Lab
from .panels import pivots
from .panels.compare import as_side
from .panels.lower import TABS
from .panels.tabs import is_open
from .preferences import LEAST_SCALE, MOST_SCALE
from .teaching import ELSEWHERE

SPEEDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
SCALE_STEP = 1.1
SLOW = 0.1  # share of the speed near to events


@dataclass(frozen=True)
class AppCommand:
    title: str   # as the palette and the menus call it
    group: str   # heading of the help page
    run: Callable[[Lab, Any], None]


#: switch of ViewOptions -> its name in the panel, the palette and the help page
TOGGLES: dict[str, str] = {
    "contact_points": "Contact points",
    "normals": "Contact normals",
    "forces": "Normal forces",
    "friction_forces": "Friction forces",
    "moments": "Moments against turning",
    "all_contacts": "All contacts of a crowd",
    "minimal_set": "Minimal contact set",
    "impulses": "Impulses at impacts",
    "dents": "Dents of soft surfaces",
    "contact_cases": "Contact cases 1, 2a, 2b, 3",
    "closed_forms": "Ghosts: closed forms, fans",
    "mouse_spring": "Mouse spring",
    "joints": "Joints",
    "centers_of_mass": "Centres of mass",
    "velocities": "Velocities",
    "angular_momenta": "Angular momenta",
    "body_names": "Body names",
    "inertia_boxes": "Inertia boxes",
    "transparent": "Transparent bodies",
    "wireframe": "Wireframe",
    "as_collided": "Meshes as they collide",
    "shadows": "Shadows",
    "grid": "Grid",
    "legend": "Legend",
    "logarithmic": "Logarithmic arrows",
    "follow_selected": "Follow the selected body",
    "keep_in_view": "Keep the action in view",
}


#: directions of view: title, azimuth and elevation [degrees]; the camera stands there
VIEWS = {
    "front": ("From the front (−y)", -90.0, 0.0), "right": ("From the right (x)", 0.0, 0.0),
    "above": ("From above", -90.0, 90.0), "back": ("From behind (y)", 90.0, 0.0),
    "left": ("From the left (−x)", 180.0, 0.0), "oblique": ("From the front, oblique", -60.0, 22.0),
}
#: switches that change how things are shown, not whether
WAYS = ("minimal_set", "logarithmic", "follow_selected", "keep_in_view", "transparent", "wireframe", "as_collided")


def _faster(lab: Lab, direction: int) -> None:
    """The next speed of SPEEDS above or below the present one."""
    snapshot = lab.snapshot
    if snapshot is None:
        return
    now = snapshot.speed
    above = [s for s in SPEEDS if s > now * 1.001]
    below = [s for s in SPEEDS if s < now * 0.999]
    if direction > 0 and above:
        lab.send(SetSpeed(above[0]))
    elif direction < 0 and below:
        lab.send(SetSpeed(below[-1]))


def _slow_at_events(lab: Lab, _argument: Any) -> None:
    """Slow motion around events, or none."""
    if (snapshot := lab.snapshot) is not None:
        slow = snapshot.at_events == 1.0
        lab.send(SetSpeed(snapshot.speed, SLOW if slow else 1.0))
        lab.ui.say(_("Around contact events time goes {SLOW:g} times slower.").format(SLOW=1.0 / SLOW) if slow else
                   _("Events pass as fast as all else."))


def _text_size(lab: Lab, factor: float) -> None:
    preferences = lab.ui.preferences
    wanted = preferences.scale * factor if factor else preferences.system_scale
    preferences.scale = min(max(wanted, LEAST_SCALE), MOST_SCALE)


def _language(name: Any) -> Callable[[Lab, Any], None]:
    """Show everything in a language, and remember it."""
    def run(lab: Lab, _argument: Any) -> None:
        lab.ui.preferences.language = name
        use(name)
        lab.teaching.tell_again()

    return run


def _toggle(name: str) -> Callable[[Lab, Any], None]:
    def run(lab: Lab, _: Any) -> None:
        setattr(lab.ui.view, name, not getattr(lab.ui.view, name))

    return run


def _flip(name: str) -> Callable[[Lab, Any], None]:
    """Show or hide a panel."""

    def run(lab: Lab, _: Any) -> None:
        setattr(lab.ui.preferences, name, not getattr(lab.ui.preferences, name))

    return run


def _tab(name: str) -> Callable[[Lab, Any], None]:
    """Show a tab of the lower area, or the tab of contacts where it is shown already."""

    def run(lab: Lab, _: Any) -> None:
        p = lab.ui.preferences
        again = is_open(lab.ui, name)
        p.lower, lab.ui.panels_hidden, p.lower_tab = True, False, "contacts" if again else name

    return run


def _large(lab: Lab, _: Any) -> None:
    lab.ui.inspector.large = not lab.ui.inspector.large


def _pivot(by: int) -> Callable[[Lab, Any], None]:
    def run(lab: Lab, _: Any) -> None:
        if lab.snapshot is not None:
            pivots.move(lab.ui, lab.snapshot, by)

    return run


def _palette(lab: Lab, _: Any) -> None:
    palette = lab.ui.palette
    palette.open, palette.just_opened, palette.text, palette.index = not palette.open, True, "", 0


def _theme(lab: Lab, _: Any) -> None:
    lab.ui.preferences.dark = lab.ui.view.dark = not lab.ui.preferences.dark


def _reduced_motion(lab: Lab, _: Any) -> None:
    preferences = lab.ui.preferences
    preferences.reduced_motion = lab.ui.view.still = not preferences.reduced_motion


def _help(lab: Lab, _: Any) -> None:
    lab.ui.help = not lab.ui.help


def _present(lab: Lab, _: Any) -> None:
    lab.ui.course.presenting = lab.ui.course.on and not lab.ui.course.presenting


def _about(lab: Lab, _: Any) -> None:
    lab.ui.about = True


def _orders(lab: Lab, _: Any) -> None:
    lab.ui.orders = True


def _film(lab: Lab, _: Any) -> None:
    lab.ui.film = True


def _sweep_map(lab: Lab, _: Any) -> None:
    lab.ui.sweep_map = True


def _fan(lab: Lab, _: Any) -> None:
    lab.ui.fan = True


def _links(lab: Lab, _: Any) -> None:
    lab.ui.links = True
    if lab.snapshot is not None and not lab.snapshot.links:
        lab.send(StudyLinks())


def _by_keys(lab: Lab, _: Any) -> None:
    ui = lab.ui
    ui.by_keys = ui.next_panel = True
    ui.panels_hidden = False


def _hide_panels(lab: Lab, _argument: Any) -> None:
    lab.ui.panels_hidden = not lab.ui.panels_hidden
    if lab.ui.panels_hidden:
        lab.ui.say(_("Panels hidden. H shows them again."))


def _compare_with(lab: Lab, method: Any) -> None:
    """Run the scene from its start with what runs now and, beside it, another method."""
    snapshot, p = lab.snapshot, lab.ui.preferences
    if snapshot is None:
        return
    sides = tuple(as_side(side) for side in snapshot.sides or (snapshot,))
    p.lower, p.lower_tab = True, "compare"
    lab.send(Compare((*sides, Side(replace(snapshot.settings, method=method), snapshot.coordinates))))


def _compare(lab: Lab, _: Any) -> None:
    """Begin a comparison with the next method, or end it."""
    snapshot = lab.snapshot
    if snapshot is None:
        return
    if snapshot.sides:
        lab.send(Compare(()))
        return
    names = list(METHODS)
    _compare_with(lab, names[(names.index(snapshot.settings.method) + 1) % len(names)])


def _next_side(lab: Lab, _: Any) -> None:
    snapshot = lab.snapshot
    if snapshot is not None and snapshot.sides:
        lab.send(Focus((snapshot.side + 1) % len(snapshot.sides)))


COMMANDS: dict[str, AppCommand] = {
    "edit": AppCommand("Edit the scene, or let it run", "Edit", lambda lab, _: lab.making.toggle(lab.snapshot)),
    "undo": AppCommand("Undo", "Edit", lambda lab, _: lab.making.undo(1, lab.snapshot)),
    "redo": AppCommand("Redo", "Edit", lambda lab, _: lab.making.undo(-1, lab.snapshot)),
    **{f"add_{kind}": AppCommand(f"Add a body: {kind}", "Edit", lambda lab, _, kind=kind: lab.making.add(kind))
       for kind in FIRST},
    "duplicate": AppCommand("Duplicate what is chosen", "Edit", lambda lab, _: lab.making.duplicate()),
    "delete": AppCommand("Delete what is chosen", "Edit", lambda lab, _: lab.making.delete()),
    "copies": AppCommand("Copies of what is chosen", "", lambda lab, told: lab.making.copies(*told)),
    "choose_all": AppCommand("Choose all bodies", "Edit", lambda lab, _: lab.making.choose_all()),
    "group": AppCommand("Group what is chosen, or ungroup it", "Edit", lambda lab, _: lab.making.group()),
    "choose_groups": AppCommand("Choose the whole group", "Edit", lambda lab, _: lab.making.choose_groups()),
    "hide": AppCommand("Hide what is chosen, or show all", "Edit", lambda lab, _: lab.making.hide()),
    "hold_bases": AppCommand("Fix the base of a robot, or free it", "Edit",
                             lambda lab, _: lab.making.hold_bases(lab.snapshot)),
    "add_mesh": AppCommand("Add a body: mesh file…", "Edit", lambda lab, _: lab.host.choose_mesh()),
    "add_mesh_file": AppCommand("Add a mesh", "", lambda lab, path: lab.making.add_mesh(path)),
    "next_tool": AppCommand("The next tool: move, turn, scale, throw, spin", "Edit",
                            lambda lab, _: lab.making.tool("next")),
    **{f"mirror_{axis}": AppCommand(f"Mirror across {axis}", "Edit", lambda lab, _, k=k: lab.making.mirror(k))
       for k, axis in enumerate("xyz")},
    "view_of_scene": AppCommand("Keep this view as the scene's first one", "Edit", lambda lab, _: lab.keep_view()),
    "play_pause": AppCommand("Play or pause", "Time", lambda lab, _: lab.play_pause()),
    "step_forward": AppCommand("One step forward", "Time", lambda lab, _: lab.send(Step(1))),
    "step_back": AppCommand("One step back", "Time", lambda lab, _: lab.send(Step(-1))),
    "next_event": AppCommand("To the next contact event", "Time", lambda lab, _: lab.send(StepToEvent(1))),
    "previous_event": AppCommand("To the previous contact event", "Time", lambda lab, _: lab.send(StepToEvent(-1))),
    "reset": AppCommand("Reset the scene", "Time", lambda lab, _: lab.send(Reset())),
    "faster": AppCommand("Faster", "Time", lambda lab, _: _faster(lab, 1)),
    "slower": AppCommand("Slower", "Time", lambda lab, _: _faster(lab, -1)),
    "slow_at_events": AppCommand("Slow motion around events, or none", "Time", _slow_at_events),
    "next_scene": AppCommand("Next scene", "Scenes", lambda lab, _: lab.neighbour_scene(1)),
    "previous_scene": AppCommand("Previous scene", "Scenes", lambda lab, _: lab.neighbour_scene(-1)),
    "open_file": AppCommand("Open a scene, mesh, run or contact problem…", "Scenes",
                            lambda lab, _: lab.host.choose_file()),
    "new_scene": AppCommand("New scene", "Scenes", lambda lab, _: lab.making.new()),
    "save": AppCommand("Save the scene", "Scenes", lambda lab, _: lab.making.save()),
    "save_as": AppCommand("Save the scene as…", "Scenes", lambda lab, _: lab.making.save_as()),
    "save_to": AppCommand("Save to", "", lambda lab, path: lab.making.save_to(path)),
    "save_beside": AppCommand("Save, and keep the other version", "", lambda lab, _: lab.making.save(beside=True)),
    "save_then": AppCommand("Save and go on", "", lambda lab, request: lab.making.save_then(request)),
    "discard_then": AppCommand("Discard and go on", "", lambda lab, request: lab.making.discard_then(request)),
    "recover": AppCommand("Go on with unsaved work", "", lambda lab, _: lab.making.recover()),
    "forget_work": AppCommand("Discard unsaved work", "", lambda lab, _: lab.making.forget_work()),
    "take_instant": AppCommand("This instant as a new scene", "Scenes",
                               lambda lab, _: lab.making.take_instant(lab.snapshot)),
    "save_run": AppCommand("Save this run", "Scenes", lambda lab, _: lab.save_run()),
    "go_on": AppCommand("Go on with a run that was cut off", "", lambda lab, _: lab.go_on()),
    "discard": AppCommand("Discard a run that was cut off", "", lambda lab, _: lab.discard()),
    "open_path": AppCommand("Open a scene, mesh, run or contact problem", "", lambda lab, path: lab.open_path(path)),
    "open_paths": AppCommand("Open meshes as one scene", "", lambda lab, paths: lab.open_paths(paths)),
    "open_mesh": AppCommand("Open a mesh in another way", "", lambda lab, given: lab.open_mesh(*given)),
    "open_as_hull": AppCommand("Let a hollow mesh collide as its hull", "", lambda lab, _: lab.open_as_hull()),
    "cancel_opening": AppCommand("Give up opening a file", "", lambda lab, _: lab.cancel_opening()),
    "reload": AppCommand("Reload the file from disk", "Scenes", lambda lab, _: lab.reload()),
    "palette": AppCommand("All commands and scenes", "App", _palette),
    "frame": AppCommand("Frame the selected body, or all", "View", lambda lab, _: lab.frame(selected=True)),
    "frame_all": AppCommand("Frame everything", "View", lambda lab, _: lab.frame(selected=False)),
    **{f"view_{name}": AppCommand(title, "View", lambda lab, _, at=(azimuth, elevation): lab.look_from(*at))
       for name, (title, azimuth, elevation) in VIEWS.items()},
    "deselect": AppCommand("Deselect, close boxes", "View", lambda lab, _: lab.escape()),
    **{
        f"toggle_{name}": AppCommand(title if name in WAYS else f"{title}: show or hide", "View", _toggle(name))
        for name, title in TOGGLES.items()
    },
    "compare": AppCommand("Compare methods side by side, or end it", "Compare", _compare),
    "next_side": AppCommand("Next side of the comparison", "Compare", _next_side),
    "compare_with": AppCommand("Compare with", "", _compare_with),
    "orders": AppCommand("Order of accuracy", "Compare", _orders),
    "sweep_map": AppCommand("Map of a sweep", "Compare", _sweep_map),
    "fan": AppCommand("Fan of perturbed starts", "Compare", _fan),
    "open_run": AppCommand("Open a run of the map", "", lambda lab, told: lab.open_run(*told)),
    "links": AppCommand("Cost and drift over the number of links", "Compare", _links),
    "lesson_on": AppCommand("Next step of the lesson", "Lessons", lambda lab, _: lab.teaching.turn(1)),
    "lesson_back": AppCommand("Step before", "Lessons", lambda lab, _: lab.teaching.turn(-1)),
    "lesson_present": AppCommand("Present the lesson: large, without other panels", "Lessons", _present),
    "lesson_leave": AppCommand("Close the lesson", "Lessons", lambda lab, _: lab.leave_lesson()),
    "author": AppCommand("Write a lesson, or edit the one that is open", "Lessons", lambda lab, _: lab.write_lesson()),
    "author_leave": AppCommand("Stop writing the lesson", "", lambda lab, _: lab.authoring.leave()),
    "author_add": AppCommand("Add what is shown to the lesson", "Lessons", lambda lab, _: lab.authoring.add(
        lab.snapshot, lab.making.scene, lab.camera)),
    "author_take": AppCommand("Let the lesson's step show what is shown", "", lambda lab, _: lab.authoring.take(
        lab.snapshot, lab.making.scene, lab.camera)),
    "author_try": AppCommand("Try the lesson that is written", "", lambda lab, _: lab.try_lesson()),
    "lesson_pack": AppCommand("Save the lesson as one file (.zip)", "Lessons", lambda lab, _: lab.teaching.pack()),
    "lesson_to": AppCommand("To a step of the lesson", "", lambda lab, number: lab.teaching.to(number)),
    "lesson_predict": AppCommand("Predict, and run", "", lambda lab, given: lab.teaching.predict(given)),
    "lesson_again": AppCommand("The step from its first instant", "", lambda lab, _: lab.teaching.again()),
    "lesson_run": AppCommand("Let the step run to its end", "", lambda lab, _: lab.teaching.run()),
    "record": AppCommand("Start or stop recording a video", "Record", lambda lab, _: lab.host.toggle_recording()),
    "film": AppCommand("Video of this run: with captions, curves, slow motion", "Record", _film),
    "film_make": AppCommand("Make the video of this run", "", lambda lab, _: lab.filming.begin()),
    "film_cancel": AppCommand("Give up the video that is made", "", lambda lab, _: lab.filming.cancel()),
    "screenshot": AppCommand("Save a picture (PNG)", "Record", lambda lab, _: lab.host.screenshot()),
    "by_keys": AppCommand("Panels by the keyboard: the next one", "App", _by_keys),
    "hide_panels": AppCommand("Hide or show all panels", "App", _hide_panels),
    "panel_gallery": AppCommand("Gallery: show or hide", "App", _flip("gallery")),
    "panel_parameters": AppCommand("Parameters: show or hide", "App", _flip("parameters")),
    "panel_lower": AppCommand("Contacts and equations: show or hide", "App", _flip("lower")),
    **{f"tab_{tab.name}": AppCommand(f"{tab.title}: show", "Equations", _tab(tab.name)) for tab in TABS.values()},
    "tab_large": AppCommand("Equations larger or smaller", "Equations", _large),
    "pivot_on": AppCommand("One step of the solver on", "Equations", _pivot(1)),
    "pivot_back": AppCommand("One step of the solver back", "Equations", _pivot(-1)),
    "save_curves": AppCommand("Save the curves", "", lambda lab, told: lab.save_curves(*told)),
    "save_drawing": AppCommand("Save the drawing", "", lambda lab, told: lab.save_drawing(*told)),
    "save_problem": AppCommand("Save the contact problem", "Equations", lambda lab, problem: lab.save_problem(problem)),
    "help": AppCommand("Keys and mouse", "App", _help),
    "reference": AppCommand("Reference of the Python interface", "App", lambda lab, _: lab.open_reference()),
    "tour": AppCommand("A tour of the window", "App", lambda lab, _: lab.begin_tour()),
    "about": AppCommand("About Contactlab", "App", _about),
    "report": AppCommand("Copy a report for those who mend faults", "App", lambda lab, failure: lab.report(failure)),
    "fullscreen": AppCommand("Full screen", "App", lambda lab, _: lab.host.toggle_fullscreen()),
    "larger_text": AppCommand("Larger text", "App", lambda lab, _: _text_size(lab, SCALE_STEP)),
    "smaller_text": AppCommand("Smaller text", "App", lambda lab, _: _text_size(lab, 1 / SCALE_STEP)),
    "normal_text": AppCommand("Normal text size", "App", lambda lab, _: _text_size(lab, 0.0)),
    "theme": AppCommand("Dark or light", "App", _theme),
    **{f"language_{language}": AppCommand(f"Language: {name}", "App", _language(language))
       for language, name in LANGUAGES.items()},
    "reduced_motion": AppCommand("Reduced motion: no flashes, no flights of the camera", "App", _reduced_motion),
    "quit": AppCommand("Quit", "App", lambda lab, _: lab.quit()),
    "quit_now": AppCommand("Quit without asking", "", lambda lab, _: lab.host.quit()),
}


def run(lab: Lab, name: str, argument: Any = None) -> None:
    """Run a command by name."""
    lab.note("request", command=name, argument=None if argument is None else str(argument))
    if COMMANDS[name].group == "Time" and lab.ui.workbench.on:
        if name == "play_pause":
            lab.making.leave(play=True)
        else:
            lab.ui.say(_("While the scene is edited time stands: Space lets it run."))
        return
    if lab.ui.course.on and name in ELSEWHERE:
        lab.ui.say(_("Close the lesson first."))
        return
    COMMANDS[name].run(lab, argument)
