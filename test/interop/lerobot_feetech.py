"""LeRobot's own Feetech bus drives an SO-101: prints what it read as JSON."""
import json
import sys
import time

from lerobot.motors import Motor, MotorCalibration, MotorNormMode
from lerobot.motors.feetech import FeetechMotorsBus

port, calibration_file = sys.argv[1], sys.argv[2]
with open(calibration_file) as file:
    calibration = {name: MotorCalibration(**entry) for name, entry in json.load(file).items()}
NAMES = ["shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll"]
motors = {name: Motor(i + 1, "sts3215", MotorNormMode.DEGREES) for i, name in enumerate(NAMES)}
motors["gripper"] = Motor(6, "sts3215", MotorNormMode.RANGE_0_100)
bus = FeetechMotorsBus(port=port, motors=motors, calibration=calibration)
bus.connect()
seen = {"connected": bus.is_connected, "calibrated": bus.is_calibrated}
bus.disable_torque()
bus.configure_motors()
for name in motors:
    bus.write("P_Coefficient", name, 16)
bus.enable_torque()
seen["from"] = bus.sync_read("Present_Position")
bus.sync_write("Goal_Position", {**dict.fromkeys(NAMES, 5.0), "gripper": 80.0})
time.sleep(1.5)
seen["to"] = bus.sync_read("Present_Position")
bus.disconnect()
print(json.dumps(seen))
