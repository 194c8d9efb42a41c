"""What the browser tests stand on: Chromium, the site, the bare page, tests run inside Pyodide."""
