"""The last touch on a video whose frames are there: chapters, captions as text that can be read back, a voice; or
pictures that move, .gif and .webp, made smaller until they fit."""

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np
from av.error import FFmpegError
from PIL import Image

from .encoder import Frame, cannot_write, indexed
from .plan import Chapter, Told

#: suffix -> codec of captions, codec of the voice, options of the container
TRACKS: dict[str, tuple[str, str, dict[str, str]]] = {
    ".mp4": ("mov_text", "aac", {"movflags": "faststart"}),
    ".mkv": ("subrip", "aac", {}),
    ".webm": ("webvtt", "libopus", {}),
}
ANIMATED = (".gif", ".webp")
MOST_ANIMATED = 25    # frames per second of moving pictures
TRIES = 6             # sizes that are tried until moving pictures fit
SMALLEST = 0.1        # of the size asked for
SAMPLES = 12          # frames from which the colours of a .gif are chosen
TICK = Fraction(1, 1000)  # [s] of captions and chapters
SOUND_RATE = 48_000   # [1/s]
MEGABYTE = 1e6        # [bytes]


@dataclass(frozen=True)
class Extras:
    """What a video file holds beside its frames."""

    title: str = ""
    captions: Sequence[Told] = ()
    chapters: Sequence[Chapter] = ()
    voice: Path | None = None
    voice_at: float = 0.0         #: when the voice begins [s of video]
    most: float = math.inf        #: size of moving pictures [MB]


def check_voice(path: Path, begin: float, seconds: float) -> None:
    """ValueError in one sentence where a voice-over that begins at `begin` [s of video] cannot be that of a video of so
    many seconds."""
    if not path.is_file():
        raise ValueError(f"video.voice: there is no file {path}")
    try:
        with av.open(str(path)) as file:
            known = file.format.name == "wav" and file.streams.audio
            length = float(file.duration or 0) / av.time_base if known else 0.0
    except (FFmpegError, OSError) as error:
        raise ValueError(f"video.voice: {path.name} is no sound file in the format WAV") from error
    if not known or length <= 0.0:
        raise ValueError(f"video.voice: {path.name} is no sound file in the format WAV")
    if begin + length > seconds + 1e-3:
        late = f" and begins at {begin:g} s" if begin else ""
        raise ValueError(f"video.voice: {path.name} is {length:.2f} s long{late}, and the video only {seconds:.2f} s: "
                         "it must end with the video")


def finish(partial: Path, out: Path, extras: Extras) -> str:
    """Make `out` of a file that holds the frames. Returns what should be said of it. Raises CannotWrite."""
    beside = out.with_stem(out.stem + ".whole")
    try:
        if out.suffix.lower() in ANIMATED:
            said = _animate(partial, beside, extras.most)
        else:
            said = ""
            _mux(partial, beside, extras)
        beside.replace(out)
    except (FFmpegError, OSError) as error:
        raise cannot_write(out, error) from error
    finally:
        beside.unlink(missing_ok=True)
    return said


# ------------------------------------------------------------------------------------------------------ films


def _mux(partial: Path, out: Path, extras: Extras) -> None:
    """Copy the frames, bit for bit, and add what else there is, as far as the frames go."""
    text_codec, sound_codec, options = TRACKS[out.suffix.lower()]
    with av.open(str(partial)) as source, av.open(str(out), "w", options=options) as file:
        frames = source.streams.video[0]
        end = float(source.duration or 0) / av.time_base
        tracks = [_copied(source, frames, file.add_stream_from_template(frames))]
        if extras.captions:
            text: Any = file.add_mux_stream(text_codec)
            text.time_base = TICK
            text.disposition = 0  # a player shows it where it is asked for: the picture has them already
            tracks.append(_written(lines(extras.captions, end), text, text_codec == "mov_text"))
        if extras.voice is not None:
            sound: Any = file.add_stream(sound_codec, rate=SOUND_RATE)
            tracks.append(_spoken(extras.voice, sound, extras.voice_at, end))
        if extras.title:
            file.metadata["title"] = extras.title
        chapters = [chapter for chapter in extras.chapters if chapter.begin < end]
        ends = [*(chapter.begin for chapter in chapters[1:]), end]
        marks: Any = [
            {"id": k, "start": round(chapter.begin / TICK), "end": round(until / TICK), "time_base": TICK,
             "metadata": {"title": chapter.title}}
            for k, (chapter, until) in enumerate(zip(chapters, ends[:len(chapters)], strict=True))]
        file.set_chapters(marks)
        for packet in heapq.merge(*tracks, key=lambda packet: packet.dts * packet.time_base):
            file.mux(packet)


def _copied(source: Any, stream: Any, to: Any) -> Iterator[Any]:
    for packet in source.demux(stream):
        if packet.dts is not None:
            packet.stream = to
            yield packet


def lines(captions: Sequence[Told], end: float) -> list[tuple[float, float, str]]:
    """Begin, end [s of video] and text of what can be read, one after the other; what is shown at once is together."""
    from ..panels.formula import plain

    cuts = sorted({min(t, end) for told in captions for t in (told.begin, told.end)})
    found = []
    for begin, until in pairwise(cuts):
        now = [told for told in captions if told.begin < until and told.end > begin]
        text = "\n".join(part for told in now for part in (told.text, plain(told.formula)) if part)
        if text and found and found[-1][1:] == (begin, text):
            found[-1] = (found[-1][0], until, text)
        elif text:
            found.append((begin, until, text))
    return found


def _written(texts: Sequence[tuple[float, float, str]], stream: Any, counted: bool) -> Iterator[Any]:
    """Packets of text; counted: each begins with its length."""
    for begin, end, text in texts:
        data = text.encode()
        packet = av.Packet(len(data).to_bytes(2, "big") + data if counted else data)
        packet.stream, packet.time_base = stream, TICK
        packet.pts = packet.dts = round(begin / TICK)
        packet.duration = round(end / TICK) - round(begin / TICK)
        yield packet


def _spoken(path: Path, stream: Any, begin: float, end: float) -> Iterator[Any]:
    """Packets of a sound file that begins at `begin` [s], as far as `end`."""
    shift = round(begin * SOUND_RATE)
    with av.open(str(path)) as voice:
        for frame in [*voice.decode(voice.streams.audio[0]), None]:
            for packet in stream.encode(frame):
                packet.pts, packet.dts = packet.pts + shift, packet.dts + shift
                if packet.dts * packet.time_base < end:
                    yield packet


# -------------------------------------------------------------------------------------------- moving pictures


def _animate(partial: Path, out: Path, most: float) -> str:
    """Pictures in a row, smaller until the file has at most so many MB."""
    scale, size = 1.0, math.inf
    for _ in range(TRIES):
        (_gif if out.suffix.lower() == ".gif" else _webp)(partial, out, scale)
        size = out.stat().st_size / MEGABYTE
        if size <= most or scale <= SMALLEST:
            break
        scale = max(scale * max(0.4, 0.95 * math.sqrt(most / size)), SMALLEST)
    if size > most:
        return f"the file has {size:.2g} MB, more than the {most:g} MB of video.most: a shorter video would fit"
    return ""


class _Frames:
    """The frames of a file at another size and at no more than MOST_ANIMATED of them a second."""

    def __init__(self, path: Path, scale: float) -> None:
        self._path = path
        with av.open(str(path)) as file:
            stream = file.streams.video[0]
            known: Any = stream.average_rate or stream.guessed_rate or MOST_ANIMATED
            rate = Fraction(known.numerator, known.denominator)
            self._every = max(1.0, float(rate) / MOST_ANIMATED)
            self.rate = min(rate, Fraction(MOST_ANIMATED))
            self.size = max(round(scale * stream.width), 16), max(round(scale * stream.height), 16)

    def __iter__(self) -> Iterator[Frame]:
        due = 0.0
        with av.open(str(self._path)) as file:
            for k, frame in enumerate(file.decode(video=0)):
                if k >= due - 1e-9:
                    due += self._every
                    yield self._scaled(np.asarray(frame.to_ndarray(format="rgb24"), np.uint8))

    def _scaled(self, frame: Frame) -> Frame:
        if (frame.shape[1], frame.shape[0]) == self.size:
            return frame
        return np.asarray(Image.fromarray(frame).resize(self.size, Image.Resampling.LANCZOS))


def _gif(partial: Path, out: Path, scale: float) -> None:
    """With one table of colours for all frames: what does not change from one to the next then costs nothing."""
    frames = _Frames(partial, scale)
    shown = [Image.fromarray(frame).resize((160, 90)) for frame in frames]
    some = shown[:: max(1, len(shown) // SAMPLES)]
    strip = Image.new("RGB", (160, 90 * len(some)))
    for k, picture in enumerate(some):
        strip.paste(picture, (0, 90 * k))
    colors = strip.quantize(255, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    _encode(out, frames, "gif", "pal8",
            lambda frame: indexed(Image.fromarray(frame).quantize(palette=colors, dither=Image.Dither.NONE)))


def _webp(partial: Path, out: Path, scale: float) -> None:
    _encode(out, _Frames(partial, scale), "libwebp_anim", "yuv420p",
            lambda frame: av.VideoFrame.from_ndarray(frame, format="rgb24"),
            {"quality": "75", "compression_level": "4"}, {"loop": "0"})


def _encode(out: Path, frames: _Frames, codec: str, pixels: str, made: Any, options: Any = None, container: Any = None
            ) -> None:
    with av.open(str(out), "w", options=container or {}) as file:
        stream: Any = file.add_stream(codec, rate=frames.rate, options=options or {})
        stream.width, stream.height, stream.pix_fmt = *frames.size, pixels
        for k, frame in enumerate(frames):
            picture = made(frame)
            picture.pts, picture.time_base = k, 1 / frames.rate
            file.mux(stream.encode(picture))
        file.mux(stream.encode())

