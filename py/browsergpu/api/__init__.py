"""The contracts of the older designs: each finds and checks its operands and calls ``array``."""
