"""Wheels of PyPI without their compiled modules, for packages that do without them."""

import base64
import hashlib
import io
import zipfile
from pathlib import Path

_KEPT = (".py", "/py.typed", ".dist-info/METADATA")
_WHEEL = "Wheel-Version: 1.0\nGenerator: browsergpu\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_TIME = (1980, 1, 1, 0, 0, 0)


def uncompiled(archive: Path) -> bytes:
    """Return the wheel's Python modules and licences as a wheel for all platforms.

    The bytes are the same for the wheels of all platforms, which differ in line ends.
    """
    with zipfile.ZipFile(archive) as source:
        names = [
            name
            for name in source.namelist()
            if name.endswith(_KEPT) or (".dist-info/licenses/" in name and name[-1] != "/")
        ]
        files = {name: source.read(name).replace(b"\r\n", b"\n") for name in sorted(names)}
    (metadata,) = [name for name in files if name.endswith(".dist-info/METADATA")]
    folder = metadata.removesuffix("METADATA")
    files[f"{folder}WHEEL"] = _WHEEL.encode()
    lines = [f"{name},{_hash(content)},{len(content)}\n" for name, content in files.items()]
    files[f"{folder}RECORD"] = "".join([*lines, f"{folder}RECORD,,\n"]).encode()
    target = io.BytesIO()
    # Compressed bytes would depend on the version of zlib.
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as wheel:
        for name, content in files.items():
            about = zipfile.ZipInfo(name, _TIME)
            about.create_system, about.external_attr = 3, 0o644 << 16
            wheel.writestr(about, content)
    return target.getvalue()


def uncompiled_name(archive: Path) -> str:
    """Return the file name of the wheel for all platforms."""
    name, version = archive.name.split("-")[:2]
    return f"{name}-{version}-py3-none-any.whl"


def _hash(content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
    return f"sha256={digest.decode().rstrip('=')}"
