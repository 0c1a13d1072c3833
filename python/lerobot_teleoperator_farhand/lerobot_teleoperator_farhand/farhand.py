"""Farhand's page, headset or any of its inputs as a teleoperator: its robot, simulated or real, leads the LeRobot robot."""

import math
import time
from functools import cached_property
from typing import Any

from farhand_client import FarhandError, Session, connect
from lerobot.teleoperators.teleoperator import Teleoperator

from .config_farhand import FarhandConfig

STALE_S = 1.0


class Farhand(Teleoperator):
    """Sends what Farhand's supervisor lets its own robot do: inside joint, speed and collision limits, still in a hold."""

    config_class = FarhandConfig
    name = "farhand"

    def __init__(self, config: FarhandConfig) -> None:
        super().__init__(config)
        self.config = config
        self._session: Session | None = None

    def _connect(self) -> Session:
        config = self.config
        session = connect(config.url, code=config.code, token=config.token, ca_file=config.ca_file)
        config.token, config.code = session.token, None
        return session

    @cached_property
    def _joints(self) -> list[tuple[str, float, float]]:
        """Name, sign and offset of each: the model's names are asked of the console, also before `connect`."""
        config = self.config
        if config.unit not in ("rad", "deg"):
            raise FarhandError(f"--teleop.unit={config.unit} is neither rad nor deg")
        with self._connect() as session:
            own = [joint["name"] for joint in session.model["joints"]]
        names = own if config.joints is None else config.joints
        signs = [1.0] * len(own) if config.signs is None else config.signs
        offsets = [0.0] * len(own) if config.offsets is None else config.offsets
        if not len(names) == len(signs) == len(offsets) == len(own):
            raise FarhandError(f"Farhand's robot has {len(own)} joints: give as many --teleop.joints, signs and offsets")
        return list(zip(names, signs, offsets, strict=True))

    @property
    def action_features(self) -> dict[str, type]:
        names = [name for name, _, _ in self._joints] + ([self.config.gripper] if self.config.gripper else [])
        return {f"{name}.pos": float for name in names}

    @property
    def feedback_features(self) -> dict[str, type]:
        return {}

    @property
    def is_connected(self) -> bool:
        return self._session is not None

    @property
    def is_calibrated(self) -> bool:
        return True

    def calibrate(self) -> None:
        pass

    def configure(self) -> None:
        pass

    def connect(self, calibrate: bool = True) -> None:
        """Only watches: who drives is decided on Farhand's pages."""
        if self._session is not None:
            raise FarhandError("the teleoperator is already connected")
        assert self._joints
        self._session = self._connect()
        self._session.until(lambda telemetry: bool((telemetry["robot"] or {}).get("targetRad")), what="Farhand's robot")

    def get_action(self) -> dict[str, Any]:
        robot = self._robot()
        per_rad = math.degrees(1.0) if self.config.unit == "deg" else 1.0
        action = {
            f"{name}.pos": sign * per_rad * rad + offset
            for (name, sign, offset), rad in zip(self._joints, robot["targetRad"], strict=True)
        }
        if self.config.gripper:
            opened, closed = self.config.gripper_open, self.config.gripper_closed
            action[f"{self.config.gripper}.pos"] = opened + robot["gripper"] * (closed - opened)
        return action

    def send_feedback(self, feedback: dict[str, Any]) -> None:
        pass

    def disconnect(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def _robot(self) -> dict[str, Any]:
        if self._session is None:
            raise FarhandError("the teleoperator is not connected: call connect() first")
        telemetry = self._session.telemetry
        is_fresh = time.monotonic() - self._session.telemetry_s <= STALE_S
        robot = telemetry["robot"] if telemetry is not None and is_fresh else None
        # A stopped robot of Farhand has no target: the last word is not "go on".
        if robot is None or not robot["targetRad"] or robot["state"] in ("stopped", "disconnected"):
            raise FarhandError("Farhand's robot has no target: it is stopped or silent. Look at its page, then start again.")
        return robot
