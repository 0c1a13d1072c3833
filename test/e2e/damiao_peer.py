"""Drives one motor of a simulated arm with a public library. Usage: damiao_peer.py (damiao-motor|motorbridge) TTY ID GOAL"""

import json
import sys
import time


def with_damiao_motor(tty, motor_id, goal):
    from damiao_motor import DaMiaoController

    controller = DaMiaoController(channel=tty, bustype="slcan")
    motor = controller.add_motor(motor_id, motor_id + 0x10, motor_type="4310")
    limits = [motor.get_register(rid, timeout=2.0) for rid in (21, 22, 23)]
    motor.ensure_control_mode("MIT")
    motor.enable()
    time.sleep(0.05)
    for _ in range(100):
        motor.send_cmd_mit(target_position=goal, target_velocity=0.0, stiffness=10.0, damping=0.7, feedforward_torque=0.0)
        time.sleep(0.01)
    state = dict(motor.get_states())
    motor.disable()
    time.sleep(0.1)
    controller.shutdown()
    return {"limits": limits, "pos": state["pos"], "status": state["status"]}


def with_motorbridge(tty, motor_id, goal):
    from motorbridge import Controller, Mode

    controller = Controller.from_dm_serial(tty, 921600)
    motor = controller.add_damiao_motor(motor_id, motor_id + 0x10, "4340")
    limits = [motor.get_register_f32(rid, 2000) for rid in (21, 22, 23)]
    motor.ensure_mode(Mode.MIT, 2000)
    motor.enable()
    time.sleep(0.05)
    for _ in range(100):
        motor.send_mit(goal, 0.0, 70.0, 3.0, 0.0)
        controller.poll_feedback_once()
        time.sleep(0.01)
    state = motor.get_state()
    motor.disable()
    time.sleep(0.1)
    controller.close()
    return {"limits": limits, "pos": state.pos, "status": state.status_code}


tasks = {"damiao-motor": with_damiao_motor, "motorbridge": with_motorbridge}
library, tty, motor_id, goal = sys.argv[1:5]
print("result " + json.dumps(tasks[library](tty, int(motor_id), float(goal)), default=str), flush=True)
