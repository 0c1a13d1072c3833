"""Retargets the frames of a file with dex-retargeting and prints joint angles and processor time as JSON."""

import json
import sys
import time

import numpy as np
from dex_retargeting.retargeting_config import RetargetingConfig

TIPS = [4, 8, 12, 16, 20]


def build(kind, urdf, fingers, scaling):
    links = [f"{finger}_tip" for finger in fingers]
    common = dict(urdf_path=urdf, scaling_factor=scaling, low_pass_alpha=-1.0)
    if kind == "vector":
        indices = np.array([[0] * 5, TIPS])
        config = RetargetingConfig(
            type="vector",
            target_origin_link_names=["palm"] * 5,
            target_task_link_names=links,
            target_link_human_indices=indices,
            **common,
        )
    else:
        config = RetargetingConfig(type="dexpilot", wrist_link_name="palm", finger_tip_link_names=links, **common)
    return config.build()


def main():
    with open(sys.argv[1]) as file:
        given = json.load(file)
    results = []
    for kind in ("vector", "dexpilot"):
        runs, spent = [], 0.0
        for person in given["people"]:
            retargeting = build(kind, given["urdf"], given["fingers"], person["scaling"])
            origin, task = retargeting.optimizer.target_link_human_indices
            frames = np.array(person["framesM"], dtype=np.float32).reshape(-1, 21, 3)
            started = time.process_time()
            angles = [retargeting.retarget(points[task] - points[origin]) for points in frames]
            spent += time.process_time() - started
            runs.append([[float(value) for value in row] for row in angles])
        names = list(retargeting.optimizer.robot.dof_joint_names)
        results.append(dict(name=kind, joints=names, runs=runs, cpuS=spent))
    json.dump(results, sys.stdout)


main()
