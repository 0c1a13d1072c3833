"""The newest picture of one camera."""

from __future__ import annotations

import ssl
import threading
import time

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect as open_socket

OPEN_S = 5.0


class Camera:
    """Receives the pictures of a camera and keeps the newest: JPEG bytes, and when they arrived (`time.monotonic`)."""

    def __init__(self, url: str, token: str, name: str, tls: ssl.SSLContext | None) -> None:
        self.name = name
        self._newest: tuple[bytes, float] | None = None
        self._arrived = threading.Condition()
        self._socket = open_socket(
            "ws" + url.removeprefix("http").rstrip("/") + f"/camera?name={name}",
            ssl=tls,
            origin=url.rstrip("/"),  # type: ignore[arg-type]
            additional_headers={"Authorization": f"Bearer {token}"},
            open_timeout=OPEN_S,
            max_size=1 << 24,
        )
        threading.Thread(target=self._receive, daemon=True).start()

    def newest(self, within_s: float = OPEN_S, fresh_s: float = float("inf")) -> bytes:
        """A picture that arrived at most `fresh_s` ago; waits for one up to `within_s`."""
        with self._arrived:
            self._arrived.wait_for(lambda: self._is_fresh(fresh_s), within_s)
            if self._newest is None or not self._is_fresh(fresh_s):
                raise TimeoutError(f"camera {self.name}: no picture within {within_s} s. Check the rig's cameras.")
            return self._newest[0]

    def close(self) -> None:
        self._socket.close()

    def _is_fresh(self, fresh_s: float) -> bool:
        return self._newest is not None and time.monotonic() - self._newest[1] <= fresh_s

    def _receive(self) -> None:
        try:
            for message in self._socket:
                if isinstance(message, bytes):
                    with self._arrived:
                        self._newest = (message, time.monotonic())
                        self._arrived.notify_all()
        except ConnectionClosed:
            pass
