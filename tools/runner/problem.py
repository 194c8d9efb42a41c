"""The error of a failed preparation of the tests."""


class CannotPrepare(Exception):
    """Something that the tests need is unavailable. The message says what to do."""
