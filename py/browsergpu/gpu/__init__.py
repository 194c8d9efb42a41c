"""The port to a GPU (``port``), what runs on one (``program``), its memory, and what Python runs in
(``platform``). Above this room nobody knows which GPU it is.
"""
