"""Drives a running Farhand demo through LeRobot's own loop; beside it, Farhand leads a stand-in. Prints one JSON line."""

import json
import math
import sys
import threading
import time

from lerobot.processor import make_default_processors
from lerobot.robots import RobotConfig, make_robot_from_config
from lerobot.scripts.lerobot_teleoperate import teleop_loop
from lerobot.teleoperators import TeleoperatorConfig, make_teleoperator_from_config
from lerobot.utils.import_utils import register_third_party_plugins

FPS = 20
SWING_RAD = 0.2
PERIOD_S = 4.0


class Swing:
    """Turns one joint to and fro, from where it stands."""

    def __init__(self, start, key):
        self.start, self.key, self.began_s = start, key, time.monotonic()

    def get_action(self):
        phase = 2 * math.pi * (time.monotonic() - self.began_s) / PERIOD_S
        return {**self.start, self.key: self.start[self.key] + SWING_RAD * math.sin(phase)}


class Watched:
    """A robot whose observations and actions are kept."""

    def __init__(self, robot):
        self.robot, self.action_features = robot, robot.action_features
        self.seen, self.sent = [], []

    def get_observation(self):
        self.seen.append(self.robot.get_observation())
        return self.seen[-1]

    def send_action(self, action):
        self.sent.append(self.robot.send_action(action))
        return self.sent[-1]


class Follower:
    """Stands for any robot of LeRobot: what it is told is where it is."""

    def __init__(self, features):
        self.action_features, self.told = features, []

    def get_observation(self):
        return {}

    def send_action(self, action):
        self.told.append(dict(action))
        return action


def loop(teleop, robot, seconds):
    teleop_action, robot_action, observation = make_default_processors()
    teleop_loop(teleop, robot, FPS, teleop_action, robot_action, observation, duration=seconds)


def span(rows, key):
    values = [row[key] for row in rows]
    return max(values) - min(values)


def main(url, port, seconds):
    register_third_party_plugins()
    robot_config = RobotConfig.get_choice_class("farhand")(url=url, port=port, camera_names=["front"], arm=True)
    robot = make_robot_from_config(robot_config)
    features = {key: str(value) for key, value in robot.observation_features.items()}
    teleop = make_teleoperator_from_config(TeleoperatorConfig.get_choice_class("farhand")(url=url, unit="deg"))
    with robot, teleop:
        start = {key: value for key, value in robot.get_observation().items() if key.endswith(".pos")}
        key = list(robot.action_features)[5]
        watched, follower = Watched(robot), Follower(teleop.action_features)
        other = threading.Thread(target=loop, args=(teleop, follower, seconds))
        other.start()
        loop(Swing(start, key), watched, seconds)
        other.join()
        picture = watched.seen[-1]["front"]
    told_rad = [{key: math.radians(row[key])} for row in follower.told]
    return {
        "features": features,
        "picture": [list(picture.shape), str(picture.dtype), int(picture.std() > 0)],
        "sentRad": span(watched.sent, key),
        "movedRad": span(watched.seen, key),
        "toldRad": span(told_rad, key),
        "told": sorted(follower.told[-1]),
    }


# LeRobot moves the cursor: the JSON has a line of its own.
print("\n" + json.dumps(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))))
