"""Builds as setuptools does, and then writes both archives anew so that the same sources give the same bytes, whenever,
wherever and by whomever they are built: names in order, no owners, one time for all (SOURCE_DATE_EPOCH, else 1980)."""

import gzip
import os
import shutil
import tarfile
import zipfile
from io import BytesIO
from pathlib import Path
from time import gmtime

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403  (the hooks that stay as they are)

EARLIEST = 315532800  # 1980, where the time of a zip file begins [s]


def _moment() -> int:
    """The time of all files [s]."""
    return max(int(os.environ.get("SOURCE_DATE_EPOCH", EARLIEST)), EARLIEST)


def build_sdist(sdist_directory: str, config_settings: dict | None = None) -> str:
    name = build_meta.build_sdist(sdist_directory, config_settings)
    path, packed = Path(sdist_directory, name), BytesIO()
    with tarfile.open(path) as old, tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new:
        for member in sorted(old.getmembers(), key=lambda m: m.name):
            plain = tarfile.TarInfo(member.name)
            plain.type, plain.size, plain.mtime = member.type, member.size, _moment()
            plain.mode = 0o755 if member.isdir() else 0o644
            new.addfile(plain, old.extractfile(member) if member.isfile() else None)
    path.write_bytes(gzip.compress(packed.getvalue(), mtime=_moment()))
    return name


def build_wheel(
    wheel_directory: str, config_settings: dict | None = None, metadata_directory: str | None = None,
) -> str:
    shutil.rmtree("build/lib", ignore_errors=True)  # what an earlier build left there would come along
    name = build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)
    path, packed = Path(wheel_directory, name), BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        for member in sorted(old.namelist(), key=lambda n: (".dist-info/" in n, n)):  # as the format advises
            plain = zipfile.ZipInfo(member, gmtime(_moment())[:6])
            plain.compress_type, plain.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            new.writestr(plain, old.read(member))
    path.write_bytes(packed.getvalue())
    return name
