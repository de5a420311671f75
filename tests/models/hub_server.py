"""A small Hub on loopback: model listings, files with ETag and Range, and the failures a real one has."""

import hashlib
import json
import re
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from urllib.parse import unquote, urlsplit

API = re.compile(r"/api/models/(?P<id>[^/]+/[^/]+?)(/revision/(?P<revision>[^/]+))?")
RESOLVE = re.compile(r"/(?P<id>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<file>.+)")
STORE = re.compile(r"/store/(?P<sha256>[0-9a-f]{64})")
LARGE_ENDINGS = (".safetensors", ".bin", ".h5", ".msgpack", ".onnx")  # kept in LFS: listed with a sha256
LOGIN_PAGE = b"<html>Welcome to our hotel</html>"


@dataclass
class Repository:
    """What the server holds of one model.

    Attributes:
        files: Contents by name.
        commit: The commit that "main" points to, and the only one there is.
        gated: Whether files are refused with 401.
        licence: As tagged; None = no tag.
        sizes_bytes: Sizes to claim in the listing instead of the real ones.
        sha256: Checksums to claim instead of the real ones.
        cuts: By file, after how many bytes of each coming download the connection is cut; or LOGIN_PAGE, which comes
            instead.
        status: Answer to every request instead of 200, e.g. 503.
        login_page: Whether every answer is a page of HTML, as in a hotel.
        moved: By file, the address that whoever asks for it is sent to.
    """

    files: dict[str, bytes]
    commit: str = "c" * 40
    gated: bool = False
    licence: str | None = "apache-2.0"
    sizes_bytes: dict[str, int] = field(default_factory=dict)
    sha256: dict[str, str] = field(default_factory=dict)
    cuts: dict[str, list[int | bytes]] = field(default_factory=dict)
    status: int = 200
    login_page: bool = False
    moved: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sent:
    """One answer of the server: what was asked, from which byte, and how many bytes of a body left."""

    method: str
    path: str
    start: int
    body_bytes: int
    authorization: str | None


class HubServer(ThreadingHTTPServer):
    """Serves repositories on a free port of 127.0.0.1.

    Attributes:
        repositories: By id; may be changed while it runs.
        published: Files at addresses of their own, outside any repository, by path.
        says_length: Whether it says how long such a file is.
        sent: Every answer, in order.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.repositories: dict[str, Repository] = {}
        self.published: dict[str, bytes] = {}
        self.says_length = True
        self.sent: list[Sent] = []
        self.lock = Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def sent_bytes(self, ending: str) -> int:
        """How many bytes of the file with that ending left the server."""
        names = {
            hashlib.sha256(content).hexdigest()
            for repository in self.repositories.values()
            for name, content in repository.files.items()
            if name.endswith(ending)
        }
        paths = tuple(f"/store/{name}" for name in names)
        return sum(sent.body_bytes for sent in self.sent if sent.path.endswith((ending, *paths)))

    def handle_error(self, request, client_address) -> None:
        """A client that went away is no error of the server; anything else is printed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @contextmanager
    def running(self):
        thread = Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.shutdown()
            self.server_close()
            thread.join(timeout=5)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: HubServer

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        if match := API.fullmatch(path):
            self._listing(match["id"], match["revision"] or "main")
        elif match := RESOLVE.fullmatch(path):
            self._resolve(match["id"], match["revision"], match["file"])
        elif match := STORE.fullmatch(path):
            self._store(match["sha256"])
        elif path in self.server.published:
            self._answer(200, self.server.published[path], says_length=self.server.says_length)
        else:
            self._answer(404)

    do_HEAD = do_GET

    def log_message(self, *args) -> None:
        """Nothing on stderr."""

    def _repository(self, id: str, revision: str) -> Repository | None:
        repository = self.server.repositories.get(id)
        if repository is None:
            self._answer(401, headers={"X-Error-Code": "RepoNotFound"})  # as the real one answers the anonymous
        elif repository.status != 200:
            self._answer(repository.status)
        elif repository.login_page:
            self._answer(200, LOGIN_PAGE)
        elif revision not in ("main", repository.commit):
            self._answer(404, headers={"X-Error-Code": "RevisionNotFound"})
        else:
            return repository
        return None

    def _listing(self, id: str, revision: str) -> None:
        if not (repository := self._repository(id, revision)):
            return
        siblings = []
        for name, content in repository.files.items():
            size = repository.sizes_bytes.get(name, len(content))
            sha256 = repository.sha256.get(name, hashlib.sha256(content).hexdigest())
            lfs = {"sha256": sha256, "size": size, "pointerSize": 134} if name.endswith(LARGE_ENDINGS) else None
            siblings.append({"rfilename": name, "size": size, "blobId": "b" * 40, "lfs": lfs})
        listing = {"id": id, "sha": repository.commit, "gated": "auto" if repository.gated else False}
        card_data = {"license": repository.licence} if repository.licence else None
        self._answer(200, json.dumps({**listing, "siblings": siblings, "cardData": card_data}).encode())

    def _resolve(self, id: str, revision: str, file: str) -> None:
        if not (repository := self._repository(id, revision)):
            return
        if repository.gated:
            self._answer(401, headers={"X-Error-Code": "GatedRepo"})
        elif file not in repository.files:
            self._answer(404, headers={"X-Error-Code": "EntryNotFound", "X-Repo-Commit": repository.commit})
        elif file in repository.moved:
            self._answer(302, headers={"X-Repo-Commit": repository.commit, "Location": repository.moved[file]})
        elif file.endswith(LARGE_ENDINGS):  # the real one sends these from a store at another host
            content = repository.files[file]
            sha256 = hashlib.sha256(content).hexdigest()
            headers = {"X-Linked-Etag": f'"{repository.sha256.get(file, sha256)}"', "X-Linked-Size": str(len(content))}
            headers |= {
                "X-Repo-Commit": repository.commit,
                "Location": f"http://localhost:{self.server.server_port}/store/{sha256}",
            }
            self._answer(302, headers=headers)
        else:
            content = repository.files[file]
            headers = {"ETag": f'"{hashlib.sha1(content).hexdigest()}"', "X-Repo-Commit": repository.commit}
            self._answer(200, content, headers=headers)

    def _store(self, sha256: str) -> None:
        for repository in self.server.repositories.values():
            for name, content in repository.files.items():
                if hashlib.sha256(content).hexdigest() == sha256:
                    cuts = repository.cuts.get(name)
                    cut = cuts.pop(0) if cuts and self.command == "GET" else None
                    if cut is LOGIN_PAGE:
                        self.headers.replace_header("Range", "")
                        content, cut = LOGIN_PAGE, None
                    self._answer(200, content, cut=cut)
                    return
        self._answer(404)

    def _answer(
        self,
        status: int,
        body: bytes = b"",
        *,
        headers: dict | None = None,
        cut: int | None = None,
        says_length: bool = True,
    ) -> None:
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        start = int(asked[1]) if asked and status == 200 else 0
        headers = {"Accept-Ranges": "bytes", **(headers or {})}
        if says_length:
            headers["Content-Length"] = str(len(body) - start)
        if start:
            status, headers["Content-Range"] = 206, f"bytes {start}-{len(body) - 1}/{len(body)}"
        sent = b"" if self.command == "HEAD" else body[start:][:cut]
        with self.server.lock:
            record = Sent(self.command, self.path, start, len(sent), self.headers.get("Authorization"))
            self.server.sent.append(record)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(sent)
        if cut is not None or not says_length:
            self.close_connection = True  # before the promised length: the client sees a broken connection
