"""LeRobot finds this package by its name. `--robot.type=farhand` is a robot that a running Farhand drives."""

from .config_farhand import FarhandConfig
from .farhand import Farhand

__all__ = ["Farhand", "FarhandConfig"]
