"""Sends joint targets to the operator's input `joints`, and decides when its clutch is closed."""

import json
import socket
import time

# Longer than the operator's own limit (250 ms) is a hold: what follows begins with an open clutch, long enough to be seen.
PAUSE_S = 0.2
OPEN_S = 0.15


class Targets:
    def __init__(self, port: int) -> None:
        self._to = ("127.0.0.1", port)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._sent_s = float("-inf")
        self._opened_s = float("-inf")

    @property
    def source(self) -> str:
        """As telemetry names it."""
        return "%s:%d" % self._socket.getsockname()

    def send(self, joints_rad: list[float], gripper: float, may_close: bool) -> bool:
        """Whether the clutch was closed. There is no thread behind it: a loop that hangs is silent, and the robot holds."""
        now_s = time.monotonic()
        if not may_close or now_s - self._sent_s > PAUSE_S:
            self._opened_s = now_s
        self._sent_s = now_s
        clutch = now_s - self._opened_s > OPEN_S
        target = {"jointsRad": joints_rad, "gripper": min(1.0, max(0.0, gripper)), "clutch": clutch, "source": "policy"}
        self._socket.sendto(json.dumps(target).encode(), self._to)
        return clutch

    def close(self) -> None:
        self._socket.close()
