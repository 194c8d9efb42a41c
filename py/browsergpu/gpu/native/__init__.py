"""The port's second implementation: GPUs outside a browser, through wgpu-py's API."""
