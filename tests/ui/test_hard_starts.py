"""It starts anywhere: names of files in any script, languages that write 0,5, terminals that lack letters, no network,
no OpenGL, no home."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import av
import pytest
from command_line import BALL
from test_cli import CUBE

from contactlab.app.scene_files import lost_work
from contactlab.physics import Scene, Simulation
from contactlab.physics.run.journal import leftovers
from contactlab.physics.run.run_file import read_run

PROGRAM = "from contactlab.app.command_line.program import program; program()"
MESH = '[[body]]\nname = "{name}"\nposition = [3, 0, 1]\n[[body.shape]]\ntype = "hull"\nfile = "{file}"\n'
#: every attempt to reach another machine ends the process
ALONE = (
    "import os, sys\n"
    "def watch(event, arguments):\n"
    "    if event in ('socket.getaddrinfo', 'socket.gethostbyname', 'urllib.Request') or (\n"
    "            event == 'socket.connect' and arguments[0].family.name != 'AF_UNIX'):\n"
    "        os._exit(77)\n"
    "sys.addaudithook(watch)\n"
)
#: every draw call fails from a time of the run on
BLIND = (
    "import moderngl, contactlab.app.window.window as window\n"
    "proceed = window.Window._proceed\n"
    "def fail(*_, **__):\n"
    "    raise moderngl.Error('the context is lost')\n"
    "def lose(self, dt):\n"
    "    if self.lab.snapshot is not None and self.lab.snapshot.t > {after}:\n"
    "        moderngl.VertexArray.render = fail\n"
    "    proceed(self, dt)\n"
    "window.Window._proceed = lose\n"
) + PROGRAM
#: a letter in a file for every frame
COUNTED = (
    "import os, contactlab.app.window.window as window\n"
    "flip, count = window.Window.flip, open(os.environ['XDG_CONFIG_HOME'] + '/frames', 'ab', 0)\n"
    "def shown(self):\n"
    "    flip(self)\n"
    "    count.write(b'.')\n"
    "window.Window.flip = shown\n"
) + PROGRAM
#: as a library may do that formats dates
SET_LOCALE = "import locale; locale.setlocale(locale.LC_ALL, '')\n"


def start(*arguments, code=PROGRAM, **environment):
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], encoding="utf-8", errors="replace",
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **environment})


def run(*arguments, code=PROGRAM, **environment):
    process = start(*arguments, code=code, **environment)
    said, complaint = process.communicate()
    return process.returncode, said, complaint


@pytest.fixture
def scene(tmp_path):
    """A scene with a mesh, in a folder with spaces and letters of several scripts."""
    folder = tmp_path / "ein Ordner 中文 é"
    folder.mkdir()
    (folder / "Würfel 立方体.obj").write_text(CUBE, encoding="utf-8")
    path = folder / "Szene 场景.toml"
    path.write_text(BALL + MESH.format(name="箱", file="Würfel 立方体.obj"), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def comma(tmp_path_factory):
    """The environment of a language that writes 0,5."""
    folder = tmp_path_factory.mktemp("locale")
    (folder / "source").write_text('LC_NUMERIC\ndecimal_point "<U002C>"\nthousands_sep "<U002E>"\ngrouping 3;3\n'
                                   'END LC_NUMERIC\nLC_CTYPE\ncopy "POSIX"\nEND LC_CTYPE\n')
    subprocess.run(["localedef", "-c", "-i", folder / "source", folder / "comma"], capture_output=True)
    environment = {"LC_ALL": "comma", "LOCPATH": str(folder)}
    said = run(code=SET_LOCALE + "print(locale.localeconv()['decimal_point'])", **environment)[1]
    assert said == ",\n", "localedef made no such language"
    return environment


def test_names_with_spaces_and_letters_of_any_script(scene):
    out = scene.with_name("Bahn 轨迹.csv")
    status, said, complaint = run("run", scene, "--until", "0.1", "--out", out)
    assert (status, complaint) == (0, "") and str(out) in said and "箱" in out.read_text(encoding="utf-8")
    video = scene.with_name("Film 电影.mp4")
    status, _, complaint = run("record", scene, "--seconds", "0.2", "--size", "160x96", "--fps", "10", "-o", video)
    assert (status, complaint) == (0, "")
    with av.open(str(video)) as file:
        assert len(list(file.decode(video=0))) == 2
    assert {p.name for p in scene.parent.iterdir()} >= {out.name, video.name}


def test_a_language_that_writes_commas_changes_no_number_and_no_picture(tmp_path, comma):
    results, scene = [], tmp_path / "scene.toml"
    (tmp_path / "cube.obj").write_text(CUBE)
    scene.write_text(BALL + MESH.format(name="cube", file="cube.obj"))
    for name, environment in (("point", {"LC_ALL": "C"}), ("comma", comma)):
        out, video = scene.with_name(f"{name}.csv"), scene.with_name(f"{name}.gif")
        assert run("run", scene, "--until", "0.2", "--out", out, code=SET_LOCALE + PROGRAM, **environment)[0] == 0
        made = run("record", scene, "--seconds", "0.1", "--size", "640x400", "--fps", "10", "--panels", "-o", video,
                   **environment)
        assert made[0] == 0, made[2]
        results.append((out.read_bytes(), video.read_bytes()))
    assert results[0] == results[1]


@pytest.mark.parametrize("terminal", [
    {"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "latin-1"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
])
def test_a_terminal_without_the_letters_gets_others(terminal):
    status, said, complaint = run("scenes", **terminal)
    assert (status, complaint) == (0, "") and "bouncing_balls" in said


def test_files_are_text_in_utf_8_whatever_the_system_writes(scene):
    """Shaders and scenes have letters that ASCII lacks."""
    old = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    video = scene.with_name("a.gif")
    made = run("record", "dice", "--seconds", "0.1", "--size", "160x96", "--fps", "10", "--panels", "-o", video, **old)
    assert made[0] == 0, made[2]


def test_nothing_asks_the_network(scene):
    for arguments in (["run", scene, "--until", "0.05"], ["scenes"], ["doctor"]):
        assert run(*arguments, code=ALONE + PROGRAM)[0] == 0
    assert run(code=ALONE + "import socket; socket.create_connection(('127.0.0.1', 9))")[0] == 77


# ------------------------------------------------------------------------------------------------ a screen


@pytest.fixture
def screen(request):
    """A virtual screen of its own, with further arguments for its server where the test gives some: its name, and the
    server's process."""
    assert shutil.which("Xvfb"), "install xvfb"
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset",
         *getattr(request, "param", ())], pass_fds=(write,), stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as answer:
        yield f":{answer.readline().strip()}", server
        server.terminate()
        server.wait()


@pytest.mark.parametrize(("screen", "environment"), [
    (("-extension", "GLX"), {}), ((), {"MESA_GL_VERSION_OVERRIDE": "2.1"}), ((), {"DISPLAY": ":99999"}),
], indirect=["screen"])
def test_without_opengl_or_a_screen_it_says_so_in_a_sentence(scene, screen, environment):
    name, _ = screen
    found = {"DISPLAY": name, "LIBGL_ALWAYS_SOFTWARE": "1", "CONTACTLAB_DEBUG": "", **environment}
    status, said, complaint = run(scene, **found)
    assert (status, said) == (1, "") and complaint.count("\n") == 1
    assert complaint.startswith("contactlab: no window with OpenGL 3.3 can be opened here")
    assert "contactlab record" in complaint
    status, said, complaint = run("doctor", **found)
    assert status == 1 and "MISSING  OpenGL, window" in said
    assert complaint.startswith("contactlab: missing: ") and "OpenGL, window" in complaint


class Windowed:
    """The app as users start it, on a screen, with a home of its own that keeps only its settings."""

    def __init__(self, screen, scene, home, name, code=PROGRAM, **environment):
        self.home, self.settings = home, home / "contactlab" / "settings.json"
        self.runs = home / "state" / "contactlab" / "runs"
        self.videos = home / "videos"
        if home.is_dir() and not self.settings.exists():
            self.settings.parent.mkdir()
            self.settings.write_text(json.dumps(
                {"record_folder": str(self.videos), "lower_tab": name, "toured": True}))
        self.environment = {"DISPLAY": screen, "LIBGL_ALWAYS_SOFTWARE": "1", "XDG_CONFIG_HOME": str(home),
                            "XDG_STATE_HOME": str(home / "state"), **environment}
        self.process = start(scene, code=code, **self.environment)

    def ask(self, *arguments):
        return subprocess.run(["xdotool", *arguments], env={**os.environ, **self.environment}, capture_output=True,
                              text=True).stdout

    def until(self, condition):
        deadline = time.monotonic() + 120.0
        while not (found := condition()):
            assert self.process.poll() is None, self.process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.2)
        return found

    def shown(self):
        return self.until(lambda: self.ask("search", "--onlyvisible", "--name", "Contactlab").split())

    def record(self):
        """Start a recording and wait until it has a few frames."""
        self.shown()
        self.until(self._press_record)
        (video,) = self.videos.glob("*.mp4")
        self.until(lambda: video.stat().st_size > 20_000)
        return video

    def _press_record(self):
        """Whether the key has begun a recording within two seconds: a window that has just come may not have it."""
        self.ask("key", "v")
        end = time.monotonic() + 2.0
        while not (found := list(self.videos.glob("*.mp4"))) and time.monotonic() < end:
            time.sleep(0.05)
        return found

    def processor(self):
        """Processor time that the program has taken [s], None where it has ended."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return None if fields[0] == "Z" else (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def waited(self):
        """Time that the window's thread could run and had no core [s].   [Linux, sched-stats.rst]"""
        with open(f"/proc/{self.process.pid}/schedstat") as file:
            return int(file.read().split()[1]) * 1e-9

    def frames(self):
        return (self.home / "frames").stat().st_size

    def end(self, number):
        self.process.send_signal(number)
        _, complaint = self.process.communicate(timeout=60)
        return self.process.returncode, complaint


def pictures(video):
    with av.open(str(video)) as file:
        return len(list(file.decode(video=0)))


def test_a_window_that_is_told_to_end_finishes_its_recording_and_keeps_its_settings(scene, screen, tmp_path):
    app = Windowed(screen[0], scene, tmp_path, "energy")
    video = app.record()
    assert app.end(signal.SIGTERM) == (143, "contactlab: stopped\n")
    assert pictures(video) > 5
    kept = json.loads(app.settings.read_text())
    assert kept["lower_tab"] == "energy" and kept["width"] == 1280


def test_two_windows_at_once_leave_settings_that_are_whole(scene, screen, tmp_path):
    apps = [Windowed(screen[0], scene, tmp_path, "energy") for _ in range(2)]
    for app in apps:
        app.until(lambda app=app: len(app.shown()) == 2)
    for app in apps:
        app.process.send_signal(signal.SIGINT)
    assert [app.process.wait(60) for app in apps] == [130, 130]
    assert json.loads(apps[0].settings.read_text())["lower_tab"] == "energy"


@pytest.mark.parametrize("home", ["/dev/null/home", "/proc/home"])
def test_a_window_without_a_home_opens_and_says_what_it_could_not_keep(scene, screen, tmp_path, home):
    app = Windowed(screen[0], scene, type(tmp_path)(home), "")
    app.shown()
    status, complaint = app.end(signal.SIGTERM)
    assert status == 143 and complaint.count("\n") == 2
    assert complaint.startswith("contactlab: the settings could not be saved: ")


def test_damaged_settings_are_set_aside_when_a_window_opens(scene, screen, tmp_path):
    settings = tmp_path / "contactlab" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"width": 0, "scale": NaN, "dark": false}')
    app = Windowed(screen[0], scene, tmp_path, "")
    app.shown()
    assert app.end(signal.SIGTERM)[0] == 143
    assert (settings.with_name("settings.damaged.json")).read_text() == '{"width": 0, "scale": NaN, "dark": false}'
    kept = json.loads(settings.read_text())
    assert (kept["width"], kept["scale"], kept["dark"]) == (1280, 1.0, False)


def heap(columns, layers, settings):
    """The scene file of boxes in columns on a floor."""
    box = '[[body.shape]]\ntype = "box"\nsize = [0.2, 0.2, 0.2]\n'
    bodies = "".join(
        f'[[body]]\nname = "{i} {j}"\nposition = [{0.3 * i}, {0.01 * j}, {0.1 + 0.2 * j}]\ndensity = 500\n{box}'
        for i in range(columns) for j in range(layers))
    return f'[solver]\n{settings}\n[[body]]\nname = "floor"\nfixed = true\n[[body.shape]]\ntype = "plane"\n{bodies}'


def grid(n):
    """An .obj file of 2 n² triangles."""
    corners = "".join(f"v {i} {j} {(i * j) % 3}\n" for i in range(n + 1) for j in range(n + 1))
    at = [(i * (n + 1) + j + 1, n + 1) for i in range(n) for j in range(n)]
    return corners + "".join(f"f {k} {k + w} {k + 1}\nf {k + 1} {k + w} {k + w + 1}\n" for k, w in at)


@pytest.mark.parametrize("work", ["compliant", "event_driven", "mesh", "video", "compiling"])
def test_a_window_closes_within_a_second_whatever_it_does(scene, screen, tmp_path, work):
    """300 soft bodies at h = 0.1, 249 boxes in event_driven, a mesh of 500 000 triangles that is read, a video, a first
    start that compiles; the others find their kernels compiled. On a machine with other work the time does not count in
    which the window's thread could run and other programs had the cores, or the processor time counts that the program
    takes from the signal to its end."""
    if work in ("compliant", "event_driven"):
        scene, settings = tmp_path / "heap.toml", f'method = "{work}"' + ("\nh = 0.1" if work == "compliant" else "")
        scene.write_text(heap(2, 3, settings))
        Simulation(Scene.load(scene)).step()
        scene.write_text(heap(100 if work == "compliant" else 83, 3, settings))
    cold = {"XDG_CACHE_HOME": str(tmp_path / "cache")} if work == "compiling" else {}
    app = Windowed(screen[0], scene, tmp_path, "energy", COUNTED, **cold)
    app.shown()
    if work == "video":
        app.record()
    if work == "mesh":
        (tmp_path / "grid.obj").write_text(grid(500))
        app.ask("key", "ctrl+p")
        app.ask("type", "--delay", "15", str(tmp_path / "grid.obj"))
        time.sleep(1.0)
        app.ask("key", "Return")
    frames = app.frames()
    app.until(lambda: app.frames() > frames + 8)
    if work == "compiling":
        time.sleep(5.0)  # it takes half a minute
        assert "kernel" in "".join(path.name for path in (tmp_path / "cache").rglob("*"))
    spent, waited, begun = app.processor(), app.waited(), time.monotonic()
    app.process.send_signal(signal.SIGTERM)
    while (now := app.processor()) is not None:
        last, kept_waiting = now, app.waited() - waited
        time.sleep(0.01)
    wall = time.monotonic() - begun
    print(f"{work}: closed in {wall:.2f} s, {kept_waiting:.2f} s of them without a core, {last - spent:.2f} s computed")
    assert app.process.wait() == 143
    assert min(wall - kept_waiting, last - spent) < 1.0


def test_a_screen_that_goes_away_leaves_a_video_that_plays_and_the_settings(scene, screen, tmp_path):
    name, server = screen
    app = Windowed(name, scene, tmp_path, "energy")
    video = app.record()
    server.kill()
    _, complaint = app.process.communicate(timeout=60)
    assert app.process.returncode == 1 and "the screen is gone" in complaint
    assert pictures(video) > 5
    assert json.loads(app.settings.read_text())["width"] == 1280
    assert [left.title for left in leftovers(app.runs)] == ["A ball"]


@pytest.mark.parametrize("gone", ["screen", "connection"])
def test_unsaved_work_is_offered_after_the_screen_went_away(scene, screen, tmp_path, gone):
    """The X server ends, or this program's connection to it, as where somebody kills a window."""
    name, server = screen
    app = Windowed(name, scene, tmp_path, "energy")
    window, = app.shown()
    drafts = tmp_path / "state" / "contactlab" / "drafts"
    app.until(lambda: list(app.runs.glob("*/*.contactlab")))
    app.ask("key", "--delay", "500", "ctrl+e", "ctrl+a", "ctrl+d")
    app.until(lambda: list(drafts.glob("*/draft.json")))
    if gone == "screen":
        server.kill()
    else:
        app.ask("windowkill", window)
    _, complaint = app.process.communicate(timeout=60)
    assert app.process.returncode == 1 and complaint == "contactlab: the screen is gone\n"
    work, = lost_work(drafts)
    assert work.text.count("[[body]]") > scene.read_text().count("[[body]]")
    assert [left.title for left in leftovers(app.runs)] == ["A ball"]


@pytest.mark.parametrize("after", [0.3, 1.0])
def test_where_opengl_fails_for_good_the_title_says_so_and_the_run_is_kept(scene, screen, tmp_path, after):
    """A lost context cannot be had from a software renderer: here every draw call fails from one moment on."""
    app = Windowed(screen[0], scene, tmp_path, "energy", BLIND.format(after=after))
    app.shown()
    app.until(lambda: "cannot draw" in app.ask("search", "--name", "Contactlab", "getwindowname"))
    code, complaint = app.end(signal.SIGTERM)
    assert code == 143 and "Contactlab cannot draw" in complaint and "Traceback" not in complaint
    left, = leftovers(app.runs)
    begin, end = read_run(left.folder).span
    assert begin == 0.0 and end >= after
    left.discard()
    assert json.loads(app.settings.read_text())["lower_tab"] == "energy"


def test_a_window_of_any_size_anywhere_goes_on(scene, screen, tmp_path):
    """Minimised (unmapped), of one pixel, larger than the screen, moved off it: it draws on, and nothing fails."""
    app = Windowed(screen[0], scene, tmp_path, "energy", COUNTED)
    window, = app.shown()
    for action in (["windowsize", window, "1", "1"], ["windowsize", window, "70", "3000"],
                   ["windowmove", window, "-4000", "9000"], ["windowunmap", window], ["windowmap", window],
                   ["windowsize", window, "1280", "800"], ["windowmove", window, "0", "0"]):
        app.ask(*action)
        frames = app.frames()
        app.until(lambda frames=frames: app.frames() > frames + 3)
    assert app.end(signal.SIGTERM) == (143, "contactlab: stopped\n")
    assert list(app.runs.iterdir()) == []  # the last frame was drawn: the user closed it
