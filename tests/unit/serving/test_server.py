"""The server: isolation headers, content types, fast reloads, and refused requests."""

import http.client
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from devsite.errors import AddressUnavailable
from devsite.server import is_local_name, is_loopback, make_server, server_url

pytestmark = pytest.mark.fast

SECRET = b"TOP SECRET"


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass
class Client:
    """Sends requests exactly as written; no client library normalizes the path."""

    server: ThreadingHTTPServer

    def request(self, path: str, method: str = "GET", **headers: str) -> Answer:
        host, port = self.server.server_address[:2]
        with closing(http.client.HTTPConnection(str(host), port, timeout=600)) as connection:
            connection.putrequest(method, path, skip_host="Host" in headers)
            for name, value in headers.items():
                connection.putheader(name.replace("_", "-"), value)
            connection.endheaders()
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())


@pytest.fixture
def roots(tmp_path: Path) -> dict[str, Path]:
    """A page and two folders of a cache, beside a secret."""
    files = {
        "web/index.html": b"<!doctype html>",
        "web/app/index.html": b"<!doctype html><title>app</title>",
        "web/app/main.mjs": b"export {}",
        "web/.hidden": SECRET,
        "cache/pyodide/pyodide.asm.wasm": b"\0asm",
        "cache/wheel/a.whl": b"PK",
        "secret.txt": SECRET,
        "web-secret/file.txt": SECRET,
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return {
        "/": tmp_path / "web",
        "/pyodide/": tmp_path / "cache" / "pyodide",
        "/wheel/": tmp_path / "cache" / "wheel",
    }


@contextmanager
def serve(roots: dict[str, Path], host: str = "127.0.0.1") -> Iterator[Client]:
    with make_server(roots, host) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield Client(server)
        finally:
            # A thread whose socket is closed would keep a core busy forever.
            server.shutdown()
            thread.join(30)


@pytest.fixture
def client(roots: dict[str, Path]) -> Iterator[Client]:
    with serve(roots) as client:
        yield client


@pytest.mark.parametrize("path", ["/", "/app/main.mjs", "/none", "/pyodide/pyodide.asm.wasm"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_every_answer_is_isolated(client: Client, path: str, method: str) -> None:
    headers = client.request(path, method).headers
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cross-Origin-Embedder-Policy"] == "require-corp"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_folders_of_the_url_layout(client: Client) -> None:
    assert client.request("/").body == b"<!doctype html>"
    assert client.request("/?notebook=none").body == b"<!doctype html>"
    assert client.request("/index.html").body == b"<!doctype html>"
    assert client.request("/app/").body == b"<!doctype html><title>app</title>"
    assert client.request("/app/main.mjs?v=2").body == b"export {}"
    assert client.request("/pyodide/pyodide.asm.wasm").body == b"\0asm"
    assert client.request("/wheel/a.whl").body == b"PK"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.mjs", "text/javascript; charset=utf-8"),
        ("a.js", "text/javascript; charset=utf-8"),
        ("a.wasm", "application/wasm"),
        ("a.whl", "application/zip"),
        ("a.zip", "application/zip"),
        ("a.wgsl", "text/wgsl; charset=utf-8"),
        ("a.ipynb", "application/x-ipynb+json"),
        ("a.json", "application/json"),
        ("a.css", "text/css; charset=utf-8"),
        ("a.html", "text/html; charset=utf-8"),
        ("a.svg", "image/svg+xml"),
        ("a.png", "image/png"),
        ("a.jpg", "image/jpeg"),
        ("A.JPG", "image/jpeg"),
        ("a.py", "text/x-python; charset=utf-8"),
        ("a.unknown", "application/octet-stream"),
        ("a", "application/octet-stream"),
    ],
)
def test_mime_types(client: Client, roots: dict[str, Path], name: str, expected: str) -> None:
    (roots["/"] / name).write_bytes(b"x")
    assert client.request(f"/{name}").headers["Content-Type"] == expected


def test_head_is_get_without_the_body(client: Client) -> None:
    got, head = client.request("/app/main.mjs"), client.request("/app/main.mjs", "HEAD")
    assert head.body == b""
    assert head.headers["Content-Length"] == str(len(got.body))
    assert {**head.headers, "Date": ""} == {**got.headers, "Date": ""}


def test_a_reload_sends_only_changed_files(client: Client, roots: dict[str, Path]) -> None:
    first = client.request("/app/main.mjs")
    assert first.headers["Cache-Control"] == "no-cache"
    etag = first.headers["ETag"]
    again = client.request("/app/main.mjs", If_None_Match=etag)
    assert (again.status, again.body) == (304, b"")
    assert again.headers["Cross-Origin-Embedder-Policy"] == "require-corp"
    assert client.request("/app/main.mjs", If_None_Match=f'"x", W/{etag}').status == 304
    assert client.request("/app/main.mjs", If_None_Match='"x"').status == 200
    (roots["/"] / "app" / "main.mjs").write_bytes(b"export { x }")
    changed = client.request("/app/main.mjs", If_None_Match=etag)
    assert (changed.status, changed.body) == (200, b"export { x }")


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/app/../../secret.txt",
        "/%2e%2e/secret.txt",
        "/%2E%2e%2fsecret.txt",
        "/..%2fsecret.txt",
        "/%252e%252e/secret.txt",
        "/..%5csecret.txt",
        "/..\\secret.txt",
        "/pyodide/../../secret.txt",
        "/pyodide/%2e%2e/%2e%2e/secret.txt",
        "/pyodide/..%2f..%2fsecret.txt",
        "/../web-secret/file.txt",
        "/%2e%2e/web-secret/file.txt",
        "//secret.txt",
        "//etc/passwd",
        "/%2fetc/passwd",
        "/./.hidden",
        "/.hidden",
        "/%2ehidden",
        "/app/main.mjs%00.png",
        "/app//main.mjs",
        "/app/main.mjs/",
        "/c:/secret.txt",
        "/%ff%fe",
        "secret.txt",
        "../secret.txt",
        "http://127.0.0.1/../secret.txt",
        "*",
    ],
)
def test_nothing_outside_is_served(client: Client, path: str) -> None:
    answer = client.request(path)
    assert answer.status == 404
    assert SECRET not in answer.body
    assert b"root:" not in answer.body


@pytest.mark.parametrize("path", ["/app", "/pyodide", "/pyodide/", "/wheel/", "/none/", "/none"])
def test_no_folder_is_listed(client: Client, path: str) -> None:
    answer = client.request(path)
    assert answer.status == 404
    assert answer.body == b"404 No such file\n"


def test_links_out_of_the_folder_are_not_followed(
    client: Client, roots: dict[str, Path], tmp_path: Path
) -> None:
    (roots["/"] / "out.txt").symlink_to(tmp_path / "secret.txt")
    (roots["/"] / "outside").symlink_to(tmp_path)
    (roots["/"] / "inside.mjs").symlink_to(roots["/"] / "app" / "main.mjs")
    (roots["/"] / "loop").symlink_to(roots["/"] / "loop")
    assert client.request("/out.txt").status == 404
    assert client.request("/outside/secret.txt").status == 404
    assert client.request("/loop").status == 404
    assert client.request("/inside.mjs").body == b"export {}"


def test_only_regular_files_are_served(client: Client, roots: dict[str, Path]) -> None:
    with socket.socket(socket.AF_UNIX) as special:
        special.bind(str(roots["/"] / "s"))
        assert client.request("/s").status == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_only_reading_is_allowed(client: Client, method: str) -> None:
    answer = client.request("/index.html", method)
    assert answer.status == 405
    assert answer.headers["Allow"] == "GET, HEAD"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
def test_another_sites_name_is_refused(client: Client, host: str) -> None:
    answer = client.request("/index.html", Host=host)
    assert answer.status == 421
    assert b"doctype" not in answer.body


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "127.0.0.1:8000", "[::1]:80"])
def test_this_machines_names_are_served(client: Client, host: str) -> None:
    assert client.request("/index.html", Host=host).status == 200


def test_all_names_are_served_where_all_machines_may_ask(roots: dict[str, Path]) -> None:
    with serve(roots, "0.0.0.0") as client:
        assert client.request("/index.html", Host="my-machine.example").status == 200
        assert server_url(client.server).startswith("http://127.0.0.1:")


def test_one_connection_carries_many_requests(client: Client) -> None:
    host, port = client.server.server_address[:2]
    with closing(http.client.HTTPConnection(str(host), port, timeout=600)) as connection:
        for path, method, status in [
            ("/", "GET", 200),
            ("/none", "GET", 404),
            ("/none", "HEAD", 404),
            ("/app/main.mjs", "HEAD", 200),
            ("/app/main.mjs", "GET", 200),
        ]:
            connection.request(method, path)
            response = connection.getresponse()
            response.read()
            assert response.status == status


def test_a_big_file_arrives_whole(client: Client, roots: dict[str, Path]) -> None:
    content = bytes(range(256)) * 12_000
    (roots["/pyodide/"] / "big.bin").write_bytes(content)
    assert client.request("/pyodide/big.bin").body == content


def test_a_port_in_use_is_reported(client: Client, roots: dict[str, Path]) -> None:
    port = client.server.server_address[1]
    with pytest.raises(AddressUnavailable, match=rf"Port {port} is in use.*--port 0"):
        make_server(roots, "127.0.0.1", port)


@pytest.mark.parametrize("host", ["192.0.2.1", "no such host"])
def test_a_foreign_address_is_reported(roots: dict[str, Path], host: str) -> None:
    with pytest.raises(AddressUnavailable, match=r"not an address of this machine.*127\.0\.0\.1"):
        make_server(roots, host)


def test_port_0_picks_a_free_one(client: Client) -> None:
    port = client.server.server_address[1]
    assert port > 0
    assert server_url(client.server) == f"http://127.0.0.1:{port}/"


def test_ipv6(roots: dict[str, Path]) -> None:
    try:
        with serve(roots, "::1") as client:
            port = client.server.server_address[1]
            assert server_url(client.server) == f"http://[::1]:{port}/"
            assert client.request("/").status == 200
    except AddressUnavailable as error:
        pytest.skip(f"no IPv6 here: {error}")


def test_loopback() -> None:
    assert all(map(is_loopback, ["127.0.0.1", "127.1.2.3", "::1", "localhost"]))
    assert not any(map(is_loopback, ["0.0.0.0", "::", "192.168.1.1", "example.org", ""]))


def test_local_names() -> None:
    assert all(map(is_local_name, ["localhost", "LOCALHOST:80", "app.localhost:1", "[::1]"]))
    assert not any(map(is_local_name, ["", "localhost.evil.example", "notlocalhost", "[::1", "@"]))
