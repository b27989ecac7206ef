"""A server with OpenAI's interface that misbehaves on purpose: a list of behaviours, one a request, the last for good."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "sk-test-0123456789abcdef"


def reply(text, finish="stop", tokens=(100, 20)):
    """Answer with this text as the model's."""
    return lambda handler, request: handler.send(200, completion(text, finish, tokens))


def fields(**values):
    """Answer with a JSON object."""
    return reply(json.dumps(values))


def computed(function):
    """Answer with the JSON object that `function` makes of the request."""
    return lambda handler, request: handler.send(200, completion(json.dumps(function(request)), "stop", (100, 20)))


def status(code, headers=(), message="no"):
    """Answer with an error of this code."""
    body = json.dumps({"error": {"message": message, "type": "error", "code": None}}).encode()
    return lambda handler, request: handler.send(code, body, headers)


def slow(seconds):
    """Answer too late."""

    def behave(handler, request):
        time.sleep(seconds)
        handler.send(200, completion("{}", "stop", (1, 1)))

    return behave


def cut_off(handler, request):
    """Promise more than is sent, then hang up."""
    body = completion('{"greeting": "hello"}', "stop", (1, 1))
    handler.send(200, body[: len(body) // 2], length=len(body))


def not_json(handler, request):
    """Answer with a page instead of JSON."""
    handler.send(200, b"<html><body>Bad gateway</body></html>", [("Content-Type", "text/html")])


def dropped(handler, request):
    """Hang up without a word."""
    handler.close_connection = True


def completion(text, finish, tokens):
    message = {"role": "assistant", "content": text}
    return json.dumps(
        {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "fake-1",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)},
        }
    ).encode()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            behaviours = self.server.behaviours
            behave = behaviours[min(len(self.server.requests), len(behaviours) - 1)]
            self.server.requests.append(request)
            self.server.headers_seen.append(dict(self.headers))
        behave(self, request)

    def send(self, code, body, headers=(), length=None):
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        if not any(name == "Content-Type" for name, _ in headers):
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:  # the client was not willing to wait
            return
        if length is not None:
            self.close_connection = True

    def log_message(self, *args):
        """Stay silent."""


class Misbehaving:
    """The server, in a `with` block.

    Attributes:
        api_base: where it listens.
        requests: what was asked, as JSON.
    """

    def __init__(self, *behaviours):
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.behaviours, self._server.requests, self._server.headers_seen = list(behaviours), [], []
        self._server.lock = threading.Lock()
        self.api_base = f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def requests(self):
        return self._server.requests

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
