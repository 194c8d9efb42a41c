"""Sizes as people read them."""


def human_size(count: int) -> str:
    """A number of bytes in decimal units, such as ``9.6 MB``."""
    if count < 1000:
        return f"{count} B"
    size = float(count)
    for unit in ("kB", "MB", "GB"):
        size /= 1000
        if size < 999.95 or unit == "GB":
            break
    return f"{size:.1f} {unit}"
