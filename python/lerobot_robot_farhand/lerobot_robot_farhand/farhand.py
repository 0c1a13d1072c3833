"""A robot of Farhand behind LeRobot's interface: every target passes Farhand's link, playout and supervisor."""

import io
import math
import time
from functools import cached_property
from typing import Any

import numpy as np
from farhand_client import Camera, FarhandError, Session, connect
from lerobot.robots.robot import Robot
from PIL import Image

from .config_farhand import FarhandConfig
from .targets import Targets

INPUT = "joints"
STALE_S = 1.0
ADMIT_S = 5.0


class Farhand(Robot):
    """Joints in radians as `NAME.pos`, the gripper as `gripper.pos` (0 open, 1 closed): units of Farhand's datasets."""

    config_class = FarhandConfig
    name = "farhand"

    def __init__(self, config: FarhandConfig) -> None:
        super().__init__(config)
        self.config = config
        self._session: Session | None = None
        self._targets: Targets | None = None
        self._cameras: dict[str, Camera] = {}
        self._followed_s = 0.0

    @cached_property
    def _facts(self) -> tuple[list[str], bool, dict[str, tuple[int, int, int]]]:
        """Joints, whether there is a gripper, and the size of each picture: asked of the console, also before `connect`."""
        with connect(self.config.url) as session:
            names = self.config.camera_names
            sizes = {name: _size(session, name) for name in (session.cameras if names is None else names)}
            return [joint["name"] for joint in session.model["joints"]], bool(session.model.get("gripper", True)), sizes

    @property
    def action_features(self) -> dict[str, type]:
        joints, has_gripper, _ = self._facts
        return {f"{name}.pos": float for name in joints + (["gripper"] if has_gripper else [])}

    @property
    def observation_features(self) -> dict[str, Any]:
        return {**self.action_features, **self._facts[2]}

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
        if self._session is not None:
            raise FarhandError("the robot is already connected")
        facts = self._facts
        self._session = connect(self.config.url)
        try:
            self._session.take()
            self._session.use_input(INPUT)
            if self.config.arm:
                self._session.request("arm")
            self._session.until(_is_armed, 15.0, "an armed robot")
            self._targets = Targets(self.config.port)
            self._cameras = {name: self._session.camera(name) for name in facts[2]}
            self._admit()
        except Exception:
            self.disconnect()
            raise

    def get_observation(self) -> dict[str, Any]:
        robot = self._telemetry()["robot"]
        seen: dict[str, Any] = self._named(robot["measuredRad"], robot["gripper"])
        for name, camera in self._cameras.items():
            seen[name] = _pixels(camera.newest(STALE_S, STALE_S))
        return seen

    def send_action(self, action: dict[str, Any]) -> dict[str, Any]:
        """Returns what drives the robot: this action, or the person's who has taken over (then it is only a proposal)."""
        joints, has_gripper, _ = self._facts
        telemetry = self._telemetry()
        robot, operator = telemetry["robot"], telemetry["operator"]
        rad = [float(action[f"{name}.pos"]) for name in joints]
        gripper = float(action["gripper.pos"]) if has_gripper else robot["gripper"]
        if not all(map(math.isfinite, [*rad, gripper])):
            raise FarhandError("an action is not finite: nothing was sent, the robot holds")
        drives = telemetry["input"]["active"] == INPUT and not operator.get("isInterrupted", False)
        assert self._targets is not None
        is_closed = self._targets.send(rad, gripper, drives)
        self._watch(robot, is_closed)
        return dict(action) if drives else self._named(telemetry["commandedRad"] or robot["measuredRad"], robot["gripper"])

    def disconnect(self) -> None:
        session, targets, cameras = self._session, self._targets, self._cameras
        self._session, self._targets, self._cameras = None, None, {}
        if session is not None and targets is not None and session.telemetry is not None and session.telemetry["robot"]:
            robot = session.telemetry["robot"]
            for _ in range(3):
                targets.send(robot["measuredRad"], robot["gripper"], False)
        if targets is not None:
            targets.close()
        for camera in cameras.values():
            camera.close()
        if session is not None:
            session.release()
            session.close()

    def _named(self, joints_rad: list[float], gripper: float) -> dict[str, Any]:
        joints, has_gripper, _ = self._facts
        values = {f"{name}.pos": rad for name, rad in zip(joints, joints_rad, strict=True)}
        return {**values, **({"gripper.pos": gripper} if has_gripper else {})}

    def _telemetry(self) -> dict[str, Any]:
        """The newest, if it is fresh and there is a robot."""
        if self._session is None:
            raise FarhandError("the robot is not connected: call connect() first")
        telemetry = self._session.telemetry
        if telemetry is None or time.monotonic() - self._session.telemetry_s > STALE_S:
            raise FarhandError("no telemetry for a second: the robot holds. Check `farhand operator` and the console.")
        if telemetry["robot"] is None or not telemetry["link"]["connected"]:
            raise FarhandError("no message from the robot: it holds or stops by itself. Check `farhand robot`.")
        return telemetry

    def _watch(self, robot: dict[str, Any], is_closed: bool) -> None:
        now_s = time.monotonic()
        if not is_closed or robot["state"] == "engaged":
            self._followed_s = now_s
        is_stopped = robot["state"] == "stopped"
        if is_stopped or now_s - self._followed_s > self.config.follow_within_s:
            raise FarhandError(f"the robot does not follow: {robot['state']} ({robot['cause']}). Look at the page.")

    def _admit(self) -> None:
        """Sends the pose as it stands, with an open clutch, until the operator takes targets from here."""
        assert self._targets is not None
        until_s = time.monotonic() + ADMIT_S
        while time.monotonic() < until_s:
            telemetry = self._telemetry()
            self._targets.send(telemetry["robot"]["measuredRad"], telemetry["robot"]["gripper"], False)
            if any(each["name"] == INPUT and each["from"] == self._targets.source for each in telemetry["input"]["streams"]):
                return
            time.sleep(0.02)
        raise FarhandError("the operator takes no targets from here: another program sends them, or --robot.port differs")


def _is_armed(telemetry: dict[str, Any]) -> bool:
    return (telemetry["robot"] or {}).get("state") in ("armed", "engaged", "hold")


def _size(session: Session, name: str) -> tuple[int, int, int]:
    camera = session.camera(name)
    try:
        height, width, channels = _pixels(camera.newest()).shape
        return height, width, channels
    finally:
        camera.close()


def _pixels(jpeg: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(jpeg)).convert("RGB"))
