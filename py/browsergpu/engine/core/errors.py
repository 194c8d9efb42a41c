"""Exceptions of browsergpu.

All are RuntimeErrors. Parentheses give the other built-in or NumPy class of an exception:

    BackendError
    ├── NotInitialized            used before init(), or after close()
    ├── InvalidArgument           (ValueError) an argument was refused; nothing reached the GPU
    │   ├── InvalidType           (TypeError) a type or dtype is not supported
    │   └── InvalidIndex          (IndexError) an index is out of range
    ├── InvalidMatrix             (LinAlgError) a matrix is singular; the next wait raises it
    ├── Unsupported               (NotImplementedError) this browser, device or context lacks it
    │   └── UnknownName           (AttributeError) a name of NumPy that browsergpu lacks
    ├── NotDifferentiable         the requested gradient does not exist
    ├── OutOfMemory               (MemoryError) the device has no room, or the request is too large
    └── DeviceError
        ├── NoAdapter             the browser gives no GPU
        ├── DeviceLost            the GPU is gone: a crash, a driver reset, device.destroy()
        ├── ShaderCompilation     WGSL does not compile: file, line, column
        ├── ValidationError       WebGPU refused a recorded command
        └── Timeout               the GPU did not answer in time
"""

from __future__ import annotations

from typing import Any

from numpy.linalg import LinAlgError

from browsergpu.engine.core.showing import Description, is_plain, shown


class BackendError(RuntimeError):
    """Base of all errors of this package, a RuntimeError as in PyTorch and JAX.

    ``op`` names the call that failed.
    """

    def __init__(self, op: str, message: str) -> None:
        super().__init__(f"{op}: {message}")
        self.op = op
        self.message = message

    def __reduce__(self) -> Any:
        """Pickle the message, because arguments differ between subclasses."""
        return _again, (type(self), self.args, self.__dict__)


class NotInitialized(BackendError):
    """The backend was used before ``init`` or after ``close``."""


class InvalidArgument(BackendError, ValueError):
    """An argument was refused before anything was sent to the GPU.

    Parameters
    ----------
    op : str
        Name of the called function.
    argument : str
        Name of the argument.
    value : object
        The given value. The message shows it by `showing.shown`, which reads no GPU memory. A
        `showing.Description` is shown unchanged.
    expected : str
        What the argument must be, as "a string", or must have, as "have at least 2 axes".
    advice : str, optional
        A sentence with advice.
    """

    def __init__(self, op: str, argument: str, value: Any, expected: str, advice: str = "") -> None:
        need = expected if expected.startswith("have ") else f"be {expected}"
        what_to_do = f" {advice}" if advice else ""
        super().__init__(op, f"{argument} must {need}, got {shown(value)}.{what_to_do}")
        self.argument = argument
        self.value = value
        self.expected = expected

    def __reduce__(self) -> Any:
        """Pickle a description in place of a value that may be on a GPU or large."""
        told = self.value if is_plain(self.value) else Description(shown(self.value))
        return _again, (type(self), self.args, self.__dict__ | {"value": told})


class InvalidType(InvalidArgument, TypeError):
    """An argument has a type or dtype that the operation does not support."""


class InvalidIndex(InvalidArgument, IndexError):
    """An index is out of range for an array."""


class Unsupported(BackendError, NotImplementedError):
    """The browser, device or calling context does not support the operation."""


class UnknownName(Unsupported, AttributeError):
    """NumPy has this name, but browsergpu does not. ``hasattr`` is False for it."""


class InvalidMatrix(BackendError, LinAlgError):
    """A matrix is singular or not positive definite. The next wait for the GPU raises it."""

    def __init__(self, op: str, argument: str, actual: str, expected: str) -> None:
        super().__init__(op, f"{argument} must be {expected}, got {actual}.")


class NotDifferentiable(BackendError):
    """A gradient was requested that does not exist or is no longer kept."""


class NeedsExamples(Exception):
    """An operation without a batching rule got a batched array. ``vmap`` catches it.

    Attributes
    ----------
    frame : Frame
        The frame of the batched array.
    """

    def __init__(self, frame: Any) -> None:
        super().__init__("an operation without a batching rule got an array of vmap")
        self.frame = frame


class OutOfMemory(BackendError, MemoryError):
    """The device has no room for the request, or no buffer can be that large.

    Attributes
    ----------
    requested : int or None
        Bytes that were requested. None if the browser itself needed memory.
    available : int or None
        Largest request that would succeed now. None if only the GPU knows.
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
    """The GPU did not answer within the timeout."""


class ShaderCompilation(DeviceError):
    """A shader did not compile.

    The next call that waits for the GPU raises it.

    Attributes
    ----------
    file : str
        File of the shader.
    line, column : int
        Position in the file, from 1.
    recorded : str
        The line of Python that first used the shader, as "Cell 3, line 2". "" if unknown.
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
    """Return the error for operands on more than one device."""
    return InvalidType(op, argument, Description("arrays of two devices"), "on one device")


def _again(kind: type[BackendError], args: tuple[Any, ...], fields: dict[str, Any]) -> BackendError:
    # For some classes, kind.__new__ is MemoryError's, which does not accept them.
    error = Exception.__new__(kind, *args)
    error.__dict__.update(fields)
    return error


# Tracebacks show the module from which users import these classes.
for _kind in list(globals().values()):
    if isinstance(_kind, type) and issubclass(_kind, BackendError):
        _kind.__module__ = "browsergpu.errors"
