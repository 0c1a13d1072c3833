"""Settings of `--robot.type=farhand`."""

from dataclasses import dataclass

from lerobot.robots.config import RobotConfig


@RobotConfig.register_subclass("farhand")
@dataclass
class FarhandConfig(RobotConfig):
    # The console of a running Farhand. Targets go to its operator, so LeRobot runs on the operator's machine.
    url: str = "http://127.0.0.1:4747"
    # operator.inputs.joints.port of the rig
    port: int = 4770
    # Cameras of the rig to observe, by name; none given: all of them.
    camera_names: list[str] | None = None
    # Arms the robot when connecting. Otherwise somebody arms it first.
    arm: bool = False
    # Joints that do not follow for this long end the run.
    follow_within_s: float = 5.0
