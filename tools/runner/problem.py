"""The one way in which preparing the tests fails."""


class CannotPrepare(Exception):
    """Something that the tests need is not to be had; the message says what to do."""
