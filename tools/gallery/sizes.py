"""Sizes with which the saved outputs are computed.

On a software GPU, each text replaces the first code cell of a notebook. An empty text keeps the
cell. The cell in the file keeps its sizes for a GPU.
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
    "text": "",
    "notes": "",
}

#: Notebooks that train networks or generate text. They run with their own sizes, on a GPU.
ON_GPU = ("letters", "swirl", "membrane", "nanogpt", "chat")

#: Options of ``python tools/gallery`` for notebooks that need files of others. Without these
#: options, the notebooks download the files.
FILES = {
    "chat": "--file SmolLM2-135M-Instruct.Q4_1.gguf",
    "nanogpt": "--file model.py",
    "notes": "--at ADDRESS FOLDER, with the notebook's address and MiniLM's files",
    "text": "--file PP-OCRv6_det_small.onnx --file PP-OCRv6_rec_small.onnx",
}
