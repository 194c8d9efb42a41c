"""Programs that are interrupted at every point where CPython allows it."""
