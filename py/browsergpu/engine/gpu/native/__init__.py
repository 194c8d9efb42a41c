"""GPUs outside a browser: the port's second implementation, through the API of wgpu-py."""
