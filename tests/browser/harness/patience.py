"""How long tests wait for what never comes.

What works comes sooner on any machine, also on a slow one with busy cores: these say when something
hangs, and nothing of how fast anything is.
"""

PATIENCE_S = 600.0
PATIENCE_MS = 1000 * PATIENCE_S
#: For what a person sees change on the page.
GLANCE_MS = 180_000.0
