"""Everything browsergpu raises.

In brackets, the class of Python's own that an error also is:

    BackendError
    ├── NotInitialized            used before init(), or after close()
    ├── InvalidArgument           (ValueError) an argument was refused; nothing reached the GPU
    │   ├── InvalidType           (TypeError) of a type or dtype that the call is not defined for
    │   └── InvalidIndex          (IndexError) an index that the array does not have
    ├── InvalidMatrix             (LinAlgError) a matrix was singular; the next wait tells
    ├── Unsupported               (NotImplementedError) this browser, device or context cannot do it
    │   └── UnknownName           (AttributeError) a name of NumPy's that there is none of here
    ├── NotDifferentiable         (RuntimeError) a gradient was asked for where there is none
    ├── OutOfMemory               (MemoryError) the device has no room, or the request is too large
    └── DeviceError
        ├── NoAdapter             the browser gives no GPU
        ├── DeviceLost            the GPU went away: a crash, a driver reset, device.destroy()
        ├── ShaderCompilation     WGSL that does not compile: file, line, column
        ├── ValidationError       WebGPU refused a command that had been recorded
        └── Timeout               the GPU did not answer in time
"""

from __future__ import annotations

from typing import Any

from numpy.linalg import LinAlgError

from browsergpu.core.showing import Description, is_plain, shown


class BackendError(Exception):
    """Base of all errors of this package. ``op`` names the call that failed."""

    def __init__(self, op: str, message: str) -> None:
        super().__init__(f"{op}: {message}")
        self.op = op
        self.message = message

    def __reduce__(self) -> Any:
        """Their arguments differ; another process gets what they came to."""
        return _again, (type(self), self.args, self.__dict__)


class NotInitialized(BackendError):
    """The backend was used before ``init`` or after ``close``."""


class InvalidArgument(BackendError, ValueError):
    """An argument was refused before anything was sent to the GPU.

    Parameters
    ----------
    op : str
        The function that was called.
    argument : str
        The argument's name.
    value : object
        What was given. The message shows it by `showing.shown`, which reads no GPU memory. A
        `showing.Description` is shown as it is.
    expected : str
        What the argument must be: "a string". Or what it must have: "have at least 2 axes".
    advice : str, optional
        A sentence that says what to do.
    """

    def __init__(self, op: str, argument: str, value: Any, expected: str, advice: str = "") -> None:
        need = expected if expected.startswith("have ") else f"be {expected}"
        what_to_do = f" {advice}" if advice else ""
        super().__init__(op, f"{argument} must {need}, got {shown(value)}.{what_to_do}")
        self.argument = argument
        self.value = value
        self.expected = expected

    def __reduce__(self) -> Any:
        """Another process gets the words for a value that may be on a GPU, or large."""
        told = self.value if is_plain(self.value) else Description(shown(self.value))
        return _again, (type(self), self.args, self.__dict__ | {"value": told})


class InvalidType(InvalidArgument, TypeError):
    """An argument of a type or dtype that the operation is not defined for."""


class InvalidIndex(InvalidArgument, IndexError):
    """An index that an array does not have."""


class Unsupported(BackendError, NotImplementedError):
    """This browser, device or calling context cannot do what was asked."""


class UnknownName(Unsupported, AttributeError):
    """A name that NumPy has and browsergpu has not. ``hasattr`` is False for it."""


class InvalidMatrix(BackendError, LinAlgError):
    """A matrix is singular, or not positive definite, which the GPU alone sees: a wait tells."""

    def __init__(self, op: str, argument: str, actual: str, expected: str) -> None:
        super().__init__(op, f"{argument} must be {expected}, got {actual}.")


class NotDifferentiable(BackendError, RuntimeError):
    """A gradient was asked for of what has none, or is no longer kept."""


class OutOfMemory(BackendError, MemoryError):
    """The device has no room for the request, or no buffer can be that large.

    ``requested`` are the bytes that were asked for, None where the browser alone wanted memory;
    ``available`` the most that a request would get now, None where only the GPU knows.
    """

    def __init__(
        self, op: str, message: str, requested: int | None = None, available: int | None = None
    ) -> None:
        super().__init__(op, message)
        self.requested = requested
        self.available = available


class DeviceError(BackendError):
    """The GPU, its driver or the browser's WebGPU refused or failed."""


class NoAdapter(DeviceError):
    """The browser has no WebGPU or gives no adapter."""


class DeviceLost(DeviceError):
    """The device is gone, with everything in its memory."""


class ValidationError(DeviceError):
    """WebGPU's validation refused a command."""


class Timeout(DeviceError):
    """The GPU did not answer in the time that was allowed."""


class ShaderCompilation(DeviceError):
    """A shader did not compile: ``file``, ``line`` and ``column`` (from 1) say where.

    It is told late, by a call that waits: ``recorded`` is the line of Python that has first used
    the shader, "Cell 3, line 2"; "" where that is not known.
    """

    def __init__(
        self, op: str, message: str, file: str, line: int, column: int, recorded: str = ""
    ) -> None:
        by_whom = f" (first recorded in {recorded})" if recorded else ""
        super().__init__(op, f"{file}:{line}:{column}: {message}{by_whom}")
        self.file = file
        self.line = line
        self.column = column
        self.recorded = recorded


def two_devices(op: str, argument: str = "arrays") -> InvalidType:
    """The error for operands on more than one device."""
    return InvalidType(op, argument, Description("arrays of two devices"), "on one device")


def _again(kind: type[BackendError], args: tuple[Any, ...], fields: dict[str, Any]) -> BackendError:
    # MemoryError's own, which some find first, is not for them.
    error = Exception.__new__(kind, *args)
    error.__dict__.update(fields)
    return error
