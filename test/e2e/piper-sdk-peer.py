"""The vendor's SDK as a peer of our simulator and reader of our driver's frames, over python-can's slcan."""
import json
import re
import sys
import time

from piper_sdk import C_PiperInterface_V2

task, port = sys.argv[1:3]
arguments = [json.loads(text) for text in sys.argv[3:]]
# The SDK's documented use of a serial adapter: no SocketCAN in the constructor, then a bus of another type.
piper = C_PiperInterface_V2(can_name=port, judge_flag=False, can_auto_init=False)
piper.CreateCanBus(port, bustype="slcan", judge_flag=False)


def joints(message):
    return [getattr(message, f"joint_{i}") for i in range(1, 7)]


def wait(condition, seconds=15.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def drive(goal, stroke):
    """Enables, moves, reads and stops, like a user of the SDK."""
    piper.ConnectPort(piper_init=True)
    # The reply spans several frames; until the last one the SDK returns a part of it.
    wait(lambda: re.fullmatch(r"S-V\d+\.\d+-\d+", str(piper.GetPiperFirmwareVersion())))
    out = {"firmware": piper.GetPiperFirmwareVersion()}
    out["enabled"] = wait(piper.EnablePiper)
    piper.GripperCtrl(0, 1000, 0x02, 0)
    piper.GripperCtrl(0, 1000, 0x01, 0)
    arrived = lambda: max(abs(a - b) for a, b in zip(joints(piper.GetArmJointMsgs().joint_state), goal)) < 20
    gripped = lambda: abs(piper.GetArmGripperMsgs().gripper_state.grippers_angle - stroke) < 50
    end = time.monotonic() + 20
    while time.monotonic() < end and not (arrived() and gripped()):
        piper.MotionCtrl_2(0x01, 0x01, 100, 0x00)
        piper.JointCtrl(*goal)
        piper.GripperCtrl(stroke, 1000, 0x01, 0)
        time.sleep(0.005)
    out["joints"] = joints(piper.GetArmJointMsgs().joint_state)
    out["stroke"] = piper.GetArmGripperMsgs().gripper_state.grippers_angle
    pose = piper.GetArmEndPoseMsgs().end_pose
    out["pose"] = [pose.X_axis, pose.Y_axis, pose.Z_axis, pose.RX_axis, pose.RY_axis, pose.RZ_axis]
    status = piper.GetArmStatus().arm_status
    out["mode"] = [int(status.ctrl_mode), int(status.mode_feed), int(status.arm_status)]
    # The SDK's list of six contains the last reply six times.
    last = piper.GetAllMotorAngleLimitMaxSpd().all_motor_angle_limit_max_spd.motor[6]
    out["limits"] = [last.max_angle_limit, last.min_angle_limit, last.max_joint_spd]
    piper.MotionCtrl_1(0x01, 0, 0)
    out["stopped"] = wait(lambda: int(piper.GetArmStatus().arm_status.arm_status) == 1)
    piper.MotionCtrl_1(0x02, 0, 0)
    out["dropped"] = wait(lambda: not any(piper.GetArmEnableStatus()))
    return out


def speak():
    """Sends the same commands as our driver, for a byte-by-byte comparison."""
    piper.ConnectPort(piper_init=False)
    time.sleep(0.2)
    piper.MasterSlaveConfig(0xFC, 0, 0, 0)
    piper.SearchPiperFirmwareVersion()
    piper.EnableArm(7)
    piper.MotionCtrl_2(0x01, 0x01, 25, 0x00)
    piper.JointCtrl(11459, 11459, -11459, 17189, -11459, 28648)
    piper.MotionCtrl_2(0x01, 0x00, 25, 0x00)
    piper.EndPoseCtrl(57000, 0, 215000, 0, 85000, 0)
    piper.GripperCtrl(35000, 1000, 0x01, 0)
    piper.MotionCtrl_1(0x01, 0, 0)
    piper.MotionCtrl_1(0x02, 0, 0)
    time.sleep(0.3)
    return {}


def listen():
    """Decodes the frames of our driver, as if from a leader arm."""
    piper.ConnectPort(piper_init=False)
    print("listening", flush=True)
    wait(lambda: piper.GetArmGripperCtrl().gripper_ctrl.grippers_effort != 0, 10)
    time.sleep(0.5)
    gripper = piper.GetArmGripperCtrl().gripper_ctrl
    mode = piper.GetArmCtrlCode151().ctrl_151
    return {
        "joints": joints(piper.GetArmJointCtrl().joint_ctrl),
        "stroke": gripper.grippers_angle,
        "effort": gripper.grippers_effort,
        "mode": [int(mode.ctrl_mode), int(mode.move_mode), mode.move_spd_rate_ctrl],
    }


result = {"drive": drive, "speak": speak, "listen": listen}[task](*arguments)
print("result " + json.dumps(result), flush=True)
piper.DisconnectPort()
