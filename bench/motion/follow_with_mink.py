"""Follows a list of poses with mink: JSON on standard input, rows of joint angles on standard output."""

import json
import sys

import mink
import mujoco
import numpy as np

asked = json.load(sys.stdin)
model = mujoco.MjModel.from_xml_string(asked["mjcf"])
joints = len(asked["homeRad"])
configuration = mink.Configuration(model)
configuration.update(np.array(asked["homeRad"]))
point = mink.FrameTask(str(asked["lead"]), "body", position_cost=1.0, orientation_cost=0.0, lm_damping=1e-6)
turn = mink.FrameTask(str(joints), "body", position_cost=0.0, orientation_cost=0.03, lm_damping=1e-6)
limits = [
    mink.ConfigurationLimit(model),
    mink.VelocityLimit(model, {f"j{i + 1}": v for i, v in enumerate(asked["velocityRadS"])}),
]
if asked["clearM"] is not None:
    parts = [model.geom(n).name for n in range(model.ngeom)]
    parts = [name for name in parts if name.startswith("part") and model.geom(name).bodyid[0] > 1]
    limits.append(
        mink.CollisionAvoidanceLimit(
            model,
            [(["table"], parts)],
            minimum_distance_from_collisions=asked["clearM"],
            collision_detection_distance=asked["clearM"] + 0.1,
        )
    )
rows = []
for target in asked["targets"]:
    rotation = mink.SO3.from_matrix(np.array(target["r"]).reshape(3, 3))
    pose = mink.SE3.from_rotation_and_translation(rotation, np.array(target["p"]))
    point.set_target(pose)
    turn.set_target(pose)
    velocity = mink.solve_ik(configuration, [point, turn], asked["dtS"], "quadprog", 1e-9, limits=limits)
    configuration.integrate_inplace(velocity, asked["dtS"])
    rows.append([float(q) for q in configuration.q])
json.dump(rows, sys.stdout)
