"""Draws a circle of 5 cm with the robot of a running `farhand demo`, and records it."""

import math
import time

from farhand_client import connect

with connect() as session:
    session.take()
    session.use_input("page")
    session.request("teleop")
    session.start_recording("draw a circle")
    for tick in range(240):
        turn = 2 * math.pi * 0.5 * tick / 60
        position = [0.05 * math.sin(turn), 1 + 0.05 * (1 - math.cos(turn)), -0.3]
        session.hand(position, [0, 0, 0, 1], gripper=0, clutch=tick > 12)
        time.sleep(1 / 60)
    print("recorded", session.stop_recording("success"), "robot", session.telemetry["robot"]["state"])
