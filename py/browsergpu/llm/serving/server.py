"""An HTTP server with the OpenAI interface: chat completions, completions, embeddings, models."""

from __future__ import annotations

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any

import numpy as np

from browsergpu.engine.core.errors import BackendError, InvalidArgument, InvalidType
from browsergpu.llm.encoder import Encoder
from browsergpu.llm.generation.text import finished
from browsergpu.llm.language_model import LanguageModel
from browsergpu.llm.serving.requests import Answer, Parsed, parsed, usage_of
from browsergpu.networks.files.headers import shallow_json

_MOST_BYTES = 1 << 24


class Server(ThreadingHTTPServer):
    """A server for one model. Requests take turns.

    Parameters
    ----------
    llm : LanguageModel or Encoder
        The model.
    name : str
        The name that clients see.
    host, port
        Where it listens. Port 0 selects a free one.
    """

    daemon_threads = True

    def __init__(
        self, llm: LanguageModel | Encoder, name: str, host: str = "127.0.0.1", port: int = 8080
    ) -> None:
        self.llm, self.name, self.turn = llm, name, Lock()
        super().__init__((host, port), _Handler)

    def __repr__(self) -> str:
        return f"<Server of {self.name} at port {self.server_address[1]}>"


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    timeout = 60

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing."""

    def do_GET(self) -> None:
        """Answer the list of models, and whether the server runs."""
        if self.path == "/v1/models":
            one = {"id": self.server.name, "object": "model", "created": 0, "owned_by": "local"}
            self._send(200, {"object": "list", "data": [one]})
        elif self.path == "/health":
            self._send(200, {"status": "ok"})
        else:
            self._refuse(404, f"There is no {self.path}.")

    def do_POST(self) -> None:
        """Answer a request for text or embeddings."""
        routes: dict[str, Callable[[Any], None]] = {
            "/v1/chat/completions": lambda body: self._text(parsed(body, is_chat=True)),
            "/v1/completions": lambda body: self._text(parsed(body, is_chat=False)),
            "/v1/embeddings": self._embeddings,
        }
        route = routes.get(self.path)
        if route is None:
            self._refuse(404, f"There is no {self.path}.")
            return
        try:
            body = self._body()
            with self.server.turn:
                route(body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client has gone
        except (InvalidArgument, TypeError, ValueError) as error:
            self._refuse(400, str(error))
        except NotImplementedError as error:
            self._refuse(501, str(error))
        except (BackendError, MemoryError) as error:
            self._refuse(500, str(error))

    def _body(self) -> Any:
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > _MOST_BYTES:
            self.close_connection = True
            expected = f"at most {_MOST_BYTES} bytes, with a Content-Length"
            raise InvalidArgument("serve", "body", length, expected)
        return shallow_json(self.rfile.read(int(length)).decode("utf-8"))

    def _text(self, request: Parsed) -> None:
        llm = self.server.llm
        if not isinstance(llm, LanguageModel):
            raise InvalidType("completions", "model", self.server.name, "a decoder")
        answer = Answer(request, self.server.name)
        if not request.is_stream:
            found = llm.generate(request.prompt, **request.options)
            texts = found if isinstance(found, list) else [found]
            self._send(200, answer.whole(texts, llm.tokenizer))
            return
        asked, pieces = llm.begin("completions", request.prompt, **request.options)
        first = next(pieces, "")  # raises what is wrong before the headers
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self._event(answer.piece(first))
        try:
            for piece in pieces:
                self._event(answer.piece(piece))
        except BackendError as error:  # the status has been sent
            self._event({"error": {"message": str(error), "type": "server_error"}})
        else:
            self._event(answer.piece("", asked.finish_reason))
            if request.with_usage:
                self._event(answer.usage(usage_of([finished(asked, "")])))
        self._chunk(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _embeddings(self, body: Any) -> None:
        op = "embeddings"
        if not isinstance(body, dict):
            raise InvalidArgument(op, "body", body, "a JSON object")
        allowed = {"input", "model", "encoding_format", "user", "dimensions"}
        if set(body) - allowed:
            name = min(set(body) - allowed)
            raise InvalidArgument(op, name, body[name], "left out, as it is not supported")
        form = body.get("encoding_format", "float")
        if form not in ("float", "base64"):
            raise InvalidArgument(op, "encoding_format", form, "float or base64")
        if body.get("dimensions") is not None:
            raise InvalidArgument(op, "dimensions", body["dimensions"], "left out")
        given = body.get("input")
        texts: list[str] = [given] if isinstance(given, str) else given or []
        llm = self.server.llm
        vectors = np.asarray(llm.embed(texts))
        count = sum(len(llm.tokenizer.encode(text)) for text in texts)
        data = [
            {"object": "embedding", "index": n, "embedding": _encoded(vector, form)}
            for n, vector in enumerate(vectors)
        ]
        usage = {"prompt_tokens": count, "total_tokens": count}
        self._send(200, {"object": "list", "data": data, "model": self.server.name, "usage": usage})

    def _event(self, value: Any) -> None:
        self._chunk(b"data: " + json.dumps(value).encode() + b"\n\n")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _refuse(self, status: int, message: str) -> None:
        kind = "invalid_request_error" if status < 500 else "server_error"
        self._send(
            status, {"error": {"message": message, "type": kind, "param": None, "code": None}}
        )

    def _send(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _encoded(vector: np.ndarray, form: str) -> Any:
    if form == "float":
        return vector.astype(float).tolist()
    from base64 import b64encode

    return b64encode(vector.astype("<f4").tobytes()).decode()
