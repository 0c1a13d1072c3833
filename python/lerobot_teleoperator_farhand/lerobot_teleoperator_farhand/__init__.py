"""LeRobot finds this package by its name. `--teleop.type=farhand` drives a LeRobot robot from Farhand's page or headset."""

from .config_farhand import FarhandConfig
from .farhand import Farhand

__all__ = ["Farhand", "FarhandConfig"]
