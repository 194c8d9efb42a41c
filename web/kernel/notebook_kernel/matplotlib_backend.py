"""Matplotlib backend of the notebook: `show` puts the open figures below the cell."""

from matplotlib._pylab_helpers import Gcf
from matplotlib.backends.backend_agg import FigureCanvasAgg as FigureCanvas

from .display import display

__all__ = ["FigureCanvas", "show"]


def show(*_args: object, **_options: object) -> None:
    """Display every open figure and close it."""
    managers = Gcf.get_all_fig_managers()
    try:
        for manager in managers:
            display(manager.canvas.figure)
    finally:
        Gcf.destroy_all()
