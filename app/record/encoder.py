"""Video files while they grow: H.264 in fragments that survive a killed process, VP9, GIF; and pictures."""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...physics.core.whole_file import whole_file

if TYPE_CHECKING:  # few runs are filmed: both are loaded by what needs them
    import av
    from PIL import Image

Frame = NDArray[np.uint8]  # (height, width, 3), top row first

LOSSLESS = ".frames.mkv"  # of a file that holds frames as they are, until others are made of it
SUFFIXES = (".mp4", ".mkv", ".webm", ".gif", ".png", ".webp")  # of what can be recorded

#: suffix -> codec, pixel format, options of the codec, options of the container
FORMATS: dict[str, tuple[str, str, dict[str, str], dict[str, str]]] = {
    ".mp4": ("libx264", "yuv420p", {"preset": "veryfast", "crf": "18", "tune": "zerolatency"},
             {"movflags": "frag_keyframe+empty_moov+default_base_moof", "flush_packets": "1"}),
    ".mkv": ("libx264", "yuv420p", {"preset": "veryfast", "crf": "18", "tune": "zerolatency"}, {"flush_packets": "1"}),
    ".webm": ("libvpx-vp9", "yuv420p", {"deadline": "realtime", "cpu-used": "6", "crf": "24", "b": "0"}, {}),
    ".gif": ("gif", "pal8", {}, {}),
    LOSSLESS: ("ffv1", "bgr0", {"level": "3", "slices": "4"}, {"flush_packets": "1"}),
}
KEYFRAME_EVERY = 0.5  # [s] at most this much is lost when the process is killed
GIF_FPS = 50          # GIF counts time in 1/100 s, and viewers slow down what is faster
THUMBNAIL = 416, 234  # pixels of a picture of the gallery
WAITING = 8           # frames the encoder may be behind


class CannotWrite(ValueError):
    """The message says which file, and why."""


def cannot_write(path: Path, error: Exception) -> CannotWrite:
    return CannotWrite(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}")


def kind_of(path: Path) -> str:
    """The key of a file in FORMATS, where it has one."""
    return LOSSLESS if path.name.endswith(LOSSLESS) else path.suffix.lower()


def check_path(path: Path, formats: Sequence[str] = SUFFIXES) -> None:
    """ValueError in one sentence where the path cannot become a video."""
    if kind_of(path) not in formats:
        names = ", ".join(f.removeprefix(".") for f in formats if f != LOSSLESS)
        raise ValueError(f"{path.name}: a recording can be {names}, by the file's suffix")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"{path}: there is no folder {path.absolute().parent}")


def even(size: tuple[int, int]) -> tuple[int, int]:
    """The size with odd numbers made even: yuv420p halves the colours."""
    return max(size[0] - size[0] % 2, 2), max(size[1] - size[1] % 2, 2)


class Movie:
    """A video being written: frames of one size and rate. Encoding runs in a thread of its own.

    Frame k is shown at k / `fps` seconds; a GIF has its rate cut to GIF_FPS.
    CannotWrite where the file cannot be written.
    """

    def __init__(self, path: Path, size: tuple[int, int], fps: int) -> None:
        import av

        check_path(path, tuple(FORMATS))
        codec, pixels, codec_options, container_options = FORMATS[kind_of(path)]
        self.gif = codec == "gif"
        self.path, self.fps = path, min(fps, GIF_FPS) if self.gif else fps
        self.count = 0
        self.size = even(size) if pixels == "yuv420p" else size
        try:
            with path.open("wb"):  # av opens the file only with the first frame: errors shall come now
                pass
            self._file = av.open(str(path), "w", options=container_options)
        except OSError as error:
            raise cannot_write(path, error) from error
        stream: Any = self._file.add_stream(codec, rate=self.fps, options=codec_options)
        stream.width, stream.height, stream.pix_fmt = *self.size, pixels
        if not self.gif:
            stream.codec_context.gop_size = max(1, round(KEYFRAME_EVERY * fps))
        if pixels == "yuv420p":
            stream.codec_context.color_range = 1
        self._stream = stream
        self._queue: queue.Queue[Frame | None] = queue.Queue(WAITING)
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._encode, name="encoder", daemon=True)
        self._thread.start()

    def add(self, frame: Frame) -> None:
        """Append a frame; waits where the encoder is behind. Another size is fitted in, with bars."""
        if self._error is not None:
            raise CannotWrite(f"{self.path} cannot be written: {self._error}")
        self._queue.put(fitted(frame, self.size))
        self.count += 1

    @property
    def seconds(self) -> float:
        """Length so far."""
        return self.count / self.fps

    def close(self) -> None:
        """Write what is left and close the file."""
        self._queue.put(None)
        self._thread.join()
        if self._error is not None:
            raise CannotWrite(f"{self.path} cannot be written: {self._error}")

    def _encode(self) -> None:
        number = 0
        try:
            while (frame := self._queue.get()) is not None:
                picture = self._picture(frame)
                picture.pts = number
                picture.time_base = Fraction(1, self.fps)
                number += 1
                self._file.mux(self._stream.encode(picture))
            self._file.mux(self._stream.encode())
            self._file.close()
        except Exception as error:  # told by the next `add` or `close`
            self._error = error
            while self._queue.get() is not None:
                pass

    def _picture(self, frame: Frame) -> av.VideoFrame:
        import av
        from PIL import Image

        if not self.gif:
            return av.VideoFrame.from_ndarray(frame, format="rgb24")
        return indexed(Image.fromarray(frame).quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE))


def indexed(reduced: Image.Image) -> av.VideoFrame:
    """A frame of a picture with up to 256 colours; colours that it has none for are transparent."""
    import av

    palette = np.zeros((256, 4), np.uint8)  # alpha, red, green, blue
    given = np.array(reduced.getpalette(), np.uint8).reshape(-1, 3)
    palette[: len(given), 1:] = given
    palette[: len(given), 0] = 255
    both: Any = (np.asarray(reduced), palette)
    return av.VideoFrame.from_ndarray(both, format="pal8")


class Pictures:
    """PNG files NAME_0000.png, NAME_0001.png, … in place of a video."""

    def __init__(self, path: Path, size: tuple[int, int], fps: int) -> None:
        check_path(path, (".png",))
        self.path, self.size, self.fps = path, size, fps
        self.count = 0

    def add(self, frame: Frame) -> None:
        save_picture(self.path.with_stem(f"{self.path.stem}_{self.count:04d}"), fitted(frame, self.size))
        self.count += 1

    @property
    def seconds(self) -> float:
        return self.count / self.fps

    def close(self) -> None:
        pass


def open_recording(path: Path, size: tuple[int, int], fps: int) -> Movie | Pictures:
    """What writes the frames, by the suffix of the path."""
    return (Pictures if path.suffix.lower() == ".png" else Movie)(path, size, fps)


def save_thumbnail(path: Path, frame: Frame) -> None:
    """Write the middle of a picture as one of THUMBNAIL pixels. OSError where it cannot be written."""
    from PIL import Image, ImageOps

    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path, sync=False) as file:
        ImageOps.fit(Image.fromarray(np.ascontiguousarray(frame)), THUMBNAIL).save(file, "PNG")


def save_picture(path: Path, frame: Frame) -> None:
    from PIL import Image

    try:
        with whole_file(path) as file:
            Image.fromarray(frame).save(file, format="PNG")
    except OSError as error:
        raise cannot_write(path, error) from error


def fitted(frame: Frame, size: tuple[int, int]) -> Frame:
    """The frame at another size: one odd row or column is cut off, anything else is scaled and centred."""
    width, height = size
    h, w = frame.shape[:2]
    if 0 <= h - height <= 1 and 0 <= w - width <= 1:
        return np.ascontiguousarray(frame[:height, :width])
    from PIL import Image

    scale = min(width / w, height / h)
    inner = max(round(w * scale), 1), max(round(h * scale), 1)
    canvas = Image.new("RGB", size)
    canvas.paste(Image.fromarray(frame).resize(inner), ((width - inner[0]) // 2, (height - inner[1]) // 2))
    return np.asarray(canvas)


def numbered(folder: Path, stem: str, suffix: str) -> Path:
    """The first of stem_001, stem_002, … that does not exist yet; makes the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    number = 1
    while (path := folder / f"{stem}_{number:03d}{suffix}").exists():
        number += 1
    return path
