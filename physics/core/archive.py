"""Archives that others made, unpacked below one folder and within limits."""

import stat
import zipfile
from pathlib import Path, PurePosixPath

from .limits import ARCHIVE_FILES, ARCHIVE_SIZE
from .whole_file import whole_file

CHUNK = 1 << 20  # bytes read at once
TOO_LARGE = f"holds more than {ARCHIVE_SIZE}; {ARCHIVE_SIZE.advice}"


def check_archive(zipped: zipfile.ZipFile) -> None:
    """Raise ValueError where an archive holds too many files, too much, or a path outside."""
    entries = zipped.infolist()
    if len(entries) > ARCHIVE_FILES.most:
        raise ValueError(f"holds {len(entries)} files; it must hold no more than {ARCHIVE_FILES.most}")
    if sum(entry.file_size for entry in entries) > ARCHIVE_SIZE.most:
        raise ValueError(TOO_LARGE)
    for entry in entries:
        name = PurePosixPath(entry.filename)
        outside = name.is_absolute() or ".." in name.parts or "\\" in entry.filename or ":" in entry.filename
        if outside or stat.S_ISLNK(entry.external_attr >> 16):
            raise ValueError(f"holds {entry.filename!r}, which leads out of the archive; it must hold plain files "
                             "below its top")


def unpack(zipped: zipfile.ZipFile, folder: Path) -> None:
    """Write all files of an archive that is checked below a folder. Raises ValueError where they come to more than
    ARCHIVE_SIZE, whatever the archive says of them, and OSError."""
    left = ARCHIVE_SIZE.most
    for entry in zipped.infolist():
        target = folder / entry.filename
        if entry.is_dir():
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        with zipped.open(entry) as read, whole_file(target) as written:
            while block := read.read(CHUNK):
                left -= len(block)
                if left < 0:
                    raise ValueError(TOO_LARGE)
                written.write(block)
