"""Cells read addresses with urllib and pandas, through the browser's fetch."""

from __future__ import annotations

import http.server
import threading
from pathlib import Path

from harness.notebook import NotebookPage
from harness.static import static_host
from playwright.sync_api import expect


def test_pandas_and_urllib_read_an_address(notebook: NotebookPage, tmp_path: Path) -> None:
    (tmp_path / "heights.csv").write_text("name,height\nAnn,171\nBo,183\n")
    with static_host(tmp_path, is_open=True) as host:
        code = f"import pandas as pd\npd.read_csv('{host}/heights.csv')['height'].tolist()"
        expect(notebook.run(code)).to_have_text("[171, 183]")
        code = (
            "from urllib.request import urlopen, urlretrieve\n"
            f"urlretrieve('{host}/heights.csv', 'copied.csv')\n"
            f"with urlopen('{host}/heights.csv') as found:\n"
            "    print(found.status, found.headers['Content-Type'], len(found.read()))\n"
            "open('copied.csv').readline().strip()"
        )
        expect(notebook.run(code)).to_contain_text("200 text/csv 27")
        expect(notebook.output(notebook.cells.count() - 2)).to_contain_text("'name,height'")
        missing = notebook.run(f"urlopen('{host}/missing.csv')")
        expect(missing).to_contain_text("HTTPError: HTTP Error 404")


def test_a_host_that_forbids_reading_is_named(notebook: NotebookPage, tmp_path: Path) -> None:
    (tmp_path / "closed.txt").write_text("closed")
    with static_host(tmp_path) as host:
        output = notebook.run(f"import urllib.request as u\nu.urlopen('{host}/closed.txt')")
        expect(output).to_contain_text(
            f"URLError: <urlopen error the browser could not fetch {host}"
        )
        expect(output).to_contain_text("allow other sites to read it (CORS)")


class _Echo(http.server.BaseHTTPRequestHandler):
    """Answers with the method, a header and the body of a request."""

    def _answer(self) -> None:
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Access-Control-Allow-Headers", "*")
        self.end_headers()
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.wfile.write(f"{self.command} {self.headers.get('X-Mark')} {body.decode()}".encode())

    do_GET = do_POST = do_OPTIONS = _answer

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


def test_headers_and_a_body_are_sent(notebook: NotebookPage) -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Echo) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        code = (
            "from urllib.request import Request, build_opener\n"
            f"asked = Request('http://127.0.0.1:{server.server_address[1]}/', b'a=1', "
            "{'X-Mark': 'here', 'User-Agent': 'own'})\n"
            "build_opener().open(asked, timeout=20).read()"
        )
        expect(notebook.run(code)).to_have_text("b'POST here a=1'")
        server.shutdown()
