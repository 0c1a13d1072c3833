"""One connection to a console. Messages are those of protocol/console.md."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import threading
import time
from typing import Any, Callable
from urllib.parse import urlsplit

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection
from websockets.sync.client import connect as open_socket

from .camera import Camera

CONSOLE_URL = "http://127.0.0.1:4747"
WAIT_S = 5.0
REFUSALS = {
    "viewer": "this program was paired as a viewer",
    "not-in-control": "another page is in control",
    "malformed": "the console does not understand the request",
}


class FarhandError(Exception):
    """A failed operation; the text says what to do."""


def connect(
    url: str | None = None,
    *,
    code: str | None = None,
    token: str | None = None,
    name: str | None = None,
    ca_file: str | None = None,
) -> Session:
    """Connects as operator or viewer, whatever the pairing code or token allows. On the console's own machine neither is
    needed. `ca_file`: certificate of the console's own authority, for https."""
    url = url or os.environ.get("FARHAND_CONSOLE", CONSOLE_URL)
    tls = ssl.create_default_context(cafile=ca_file) if url.startswith("https:") else None
    token = token or _obtain_token(url, code, name, tls)
    where = "ws" + url.removeprefix("http").rstrip("/") + "/ws"
    try:
        socket = open_socket(
            where,
            ssl=tls,
            origin=url.rstrip("/"),  # type: ignore[arg-type]
            additional_headers={"Authorization": f"Bearer {token}"},
            open_timeout=WAIT_S,
            max_size=1 << 20,
        )
        hello = json.loads(socket.recv(timeout=WAIT_S))
    except Exception as error:
        raise FarhandError(f"no console at {url}: {error}. Start one with `farhand demo`.") from error
    return Session(socket, token, hello, url, tls)


def _obtain_token(url: str, code: str | None, name: str | None, tls: ssl.SSLContext | None) -> str:
    """From a pairing code, or, on the console's machine, like its browser gets it: with the page."""
    parts = urlsplit(url)
    host = parts.hostname or "127.0.0.1"
    if tls is not None:
        link = http.client.HTTPSConnection(host, parts.port, timeout=WAIT_S, context=tls)
    else:
        link = http.client.HTTPConnection(host, parts.port, timeout=WAIT_S)
    try:
        if code is None:
            link.request("GET", "/")
        else:
            body = json.dumps({"code": code, **({"name": name} if name else {})})
            link.request("POST", "/api/access/pair", body, {"Content-Type": "application/json", "Origin": url.rstrip("/")})
        cookie = link.getresponse().getheader("Set-Cookie") or ""
    except OSError as error:
        raise FarhandError(f"no console at {url}: {error}. Start one with `farhand demo`.") from error
    finally:
        link.close()
    if "=" not in cookie:
        raise FarhandError(f"the console at {url} did not accept this program: pass a new pairing code, connect(url, code=…)")
    return cookie.split(";")[0].split("=", 1)[1]


class Session:
    """`telemetry` is the newest message about the robot, about 30 times a second; `telemetry_s` is when it arrived
    (`time.monotonic`). One connection at a time is in control."""

    def __init__(
        self,
        socket: ClientConnection,
        token: str,
        hello: dict[str, Any],
        url: str = CONSOLE_URL,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.token = token
        self.model: dict[str, Any] = hello["model"]
        self.cameras: list[str] = hello.get("cameras") or []
        self.telemetry: dict[str, Any] | None = None
        self.telemetry_s = float("-inf")
        self._url, self._tls = url, tls
        self.access: dict[str, Any] = {"role": "viewer", "inControl": False, "holder": None, "pages": 0}
        self.on_telemetry: Callable[[dict[str, Any]], None] | None = None
        self._socket = socket
        self._refusal = ""
        self._is_open = True
        self._changed = threading.Condition()
        threading.Thread(target=self._receive, daemon=True).start()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def take(self) -> None:
        """Takes control of the robot, also from another page."""
        self._send({"kind": "control", "action": "take"})
        self._wait("control", lambda: bool(self.access["inControl"]), WAIT_S)

    def release(self) -> None:
        self._send({"kind": "control", "action": "release"})

    def request(self, action: str) -> None:
        """One of arm, disarm, reset, hold, teleop, home, estop. Does not wait for its effect: use `until`."""
        self._refusal = ""
        self._send({"kind": action})

    def use_input(self, name: str) -> None:
        """Selects the input that drives; `page` is the one that `hand` feeds."""
        self._refusal = ""
        self._send({"kind": "input", "name": name})
        self.until(lambda telemetry: telemetry["input"]["active"] == name, what=f"input {name}")

    def hand(self, position_m: list[float], quat_xyzw: list[float], gripper: float, clutch: bool) -> None:
        """Sends the hand's pose (x right, y up, z toward the person). Send at 30 to 90 Hz: silence makes the robot hold."""
        pose = {"positionM": position_m, "quatXyzw": quat_xyzw, "gripper": gripper, "clutch": clutch}
        self._send({"kind": "hand", **pose, "takenMs": time.monotonic() * 1e3})

    def camera(self, name: str) -> Camera:
        """Opens a camera of the rig (`cameras` lists them): `camera.newest()` is a JPEG picture. Close it after use."""
        if name not in self.cameras:
            raise FarhandError(f"there is no camera {name}, only {', '.join(self.cameras) or 'none'}. Add it to the rig.")
        return Camera(self._url, self.token, name, self._tls)

    def start_recording(self, task: str) -> None:
        self._refusal = ""
        self._send({"kind": "record", "action": "start", "task": task})
        self.until(lambda telemetry: (telemetry.get("record") or {}).get("state") == "recording", what="record start")

    def stop_recording(self, label: str | None = None) -> str:
        """Saves the episode and returns its name."""
        self._refusal = ""
        self._send({"kind": "record", "action": "stop", **({"label": label} if label else {})})
        done = self.until(lambda telemetry: (telemetry.get("record") or {}).get("state") != "recording", what="record stop")
        return (done.get("record") or {}).get("episode") or ""

    def until(
        self, condition: Callable[[dict[str, Any]], bool], within_s: float = WAIT_S, what: str = "the condition"
    ) -> dict[str, Any]:
        """The first telemetry that fulfils the condition."""
        self._wait(what, lambda: self.telemetry is not None and condition(self.telemetry), within_s)
        assert self.telemetry is not None
        return self.telemetry

    def close(self) -> None:
        self._socket.close()

    def _wait(self, what: str, is_true: Callable[[], bool], within_s: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: is_true() or not self._is_open or self._refusal != "", within_s)
            if is_true():
                return
        why = self._refusal or ("" if self._is_open else "the console closed the connection")
        raise FarhandError(f"{what}: {why or f'not within {within_s} s'}. Call take() first, and look at telemetry['robot'].")

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self._socket.send(json.dumps(message))
        except ConnectionClosed:
            pass

    def _receive(self) -> None:
        try:
            for text in self._socket:
                self._take(text)
        except ConnectionClosed:
            pass
        with self._changed:
            self._is_open = False
            self._changed.notify_all()

    def _take(self, text: str | bytes) -> None:
        received_ns = time.monotonic() * 1e9
        try:
            message = json.loads(text)
        except ValueError:
            return
        if not isinstance(message, dict):
            return
        kind = message.get("kind")
        if kind == "probe":
            self._send({"kind": "probed", "t0": message.get("t0"), "t1": received_ns, "t2": time.monotonic() * 1e9})
        with self._changed:
            if kind == "telemetry":
                self.telemetry = message
                self.telemetry_s = time.monotonic()
            elif kind == "access":
                self.access = message
            elif kind == "refused":
                self._refusal = REFUSALS.get(str(message.get("reason")), "refused")
            self._changed.notify_all()
        if kind == "telemetry" and self.on_telemetry is not None:
            self.on_telemetry(message)
