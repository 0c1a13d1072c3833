"""Settings of `--teleop.type=farhand`."""

from dataclasses import dataclass

from lerobot.teleoperators.config import TeleoperatorConfig


@TeleoperatorConfig.register_subclass("farhand")
@dataclass
class FarhandConfig(TeleoperatorConfig):
    # The console of a running Farhand whose (simulated) robot has the joints of the LeRobot robot.
    url: str = "http://127.0.0.1:4747"
    # Of another machine's console: a pairing code (once), or a token, and the certificate of its authority.
    code: str | None = None
    token: str | None = None
    ca_file: str | None = None
    # The LeRobot robot's names of the joints, in the order of Farhand's model; not given: the model's own.
    joints: list[str] | None = None
    # What the LeRobot robot takes: rad or deg. Each value is sign * angle + offset (in this unit).
    unit: str = "deg"
    signs: list[float] | None = None
    offsets: list[float] | None = None
    # Name of the gripper, empty for none, and its values when open and closed.
    gripper: str = "gripper"
    gripper_open: float = 100.0
    gripper_closed: float = 0.0
