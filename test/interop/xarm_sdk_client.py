"""Drives a control box with UFACTORY's SDK in servo mode and prints what it read as JSON."""
import contextlib
import io
import json
import sys
import time

from xarm.core.config.x_config import XCONF

host, port, report = sys.argv[1], int(sys.argv[2]), sys.argv[3]
# 502 is privileged; the report ports are fixed, because the SDK selects layouts by port number.
XCONF.SocketConf.TCP_CONTROL_PORT = port

chatter = io.StringIO()
with contextlib.redirect_stdout(chatter):
    from xarm.wrapper import XArmAPI

    arm = XArmAPI(host, is_radian=True, report_type=report)
    codes = [
        arm.clean_error(),
        arm.clean_warn(),
        arm.motion_enable(True),
        arm.set_mode(1),
        arm.set_state(0),
    ]
    time.sleep(0.5)
    seen = {
        "connected": arm.connected,
        "axis": arm.axis,
        "version": list(arm.version_number),
        "codes": codes,
        "mode": arm.mode,
        "state": arm.get_state(),
        "errors": arm.get_err_warn_code(),
        "from": arm.get_servo_angle(),
    }
    angles = list(seen["from"][1])
    for _ in range(50):
        angles[0] += 0.005
        codes.append(arm.set_servo_angle_j(angles))
        time.sleep(0.01)
    time.sleep(0.5)
    seen["to"] = arm.get_servo_angle()
    seen["reported"] = arm.angles
    codes += [
        arm.set_gripper_enable(True),
        arm.set_gripper_mode(0),
        arm.set_gripper_speed(5000),
        arm.set_gripper_position(300, wait=True, timeout=5),
    ]
    seen["gripper"] = arm.get_gripper_position()
    seen["gripperError"] = arm.get_gripper_err_code()
    codes.append(arm.set_state(4))
    seen["stopped"] = arm.get_state()
    arm.disconnect()
print(json.dumps(seen))
