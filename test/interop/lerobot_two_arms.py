"""Compares what LeRobot loads with the recording that recorded_rows.py has read: DATASET FOLDER. Prints one JSON line."""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from lerobot.datasets.lerobot_dataset import LeRobotDataset
from PIL import Image

dataset_folder, folder = sys.argv[1:]
recorded = json.loads((Path(folder) / "rows.json").read_text())
rows = recorded["rows"]
times = np.array([row["timeNs"] for row in rows])
by_seq = {row["seq"]: row for row in rows}
# When the robot had applied each command, on the clock of the rows: docs/datasets.md, Rows.
traces = [trace for trace in recorded["traces"] if trace["seq"] in by_seq]
start_ns = traces[0]["getStateNs"] - by_seq[traces[0]["seq"]]["timeNs"]
applied = sorted(
    (trace["appliedNs"] - trace["offsetNs"] - start_ns, trace["seq"])
    for trace in traces
    if trace["appliedNs"] is not None and trace["offsetNs"] is not None
)
applied_ns = np.array([at for at, _ in applied])
SLACK_NS = 1000


def newest(all_ns: np.ndarray, at_ns: float) -> int:
    return max(0, int(np.searchsorted(all_ns, at_ns, side="right")) - 1)


def picture(camera: str, row: dict) -> np.ndarray:
    file = Path(folder) / f"{camera}-{row['frames'][camera]['captureNs']}.jpg"
    return np.asarray(Image.open(file).convert("RGB"), dtype=np.float32)


dataset = LeRobotDataset("farhand/two-arms", root=dataset_folder)
features = dataset.meta.features
cameras = sorted(key.removeprefix("observation.images.") for key in dataset.meta.camera_keys)
own, other = 0.0, float("inf")
seen = 0
first = last = None
for batch in torch.utils.data.DataLoader(dataset, batch_size=8, num_workers=0):
    for i in range(len(batch["index"])):
        row = rows[newest(times, seen * 1e9 / dataset.fps + SLACK_NS)]
        instant_ns = row["timeNs"] - max([0, *(frame["ageNs"] for frame in row["frames"].values())])
        state = rows[newest(times, instant_ns)]["state"]
        command = by_seq[applied[newest(applied_ns, instant_ns)][1]]["command"]
        for key, due in (("observation.state", state), ("action", command)):
            assert np.array_equal(batch[key][i].numpy(), np.array(due, dtype=np.float32)), f"{key} of row {seen}"
        for camera in cameras:
            shown = 255 * batch[f"observation.images.{camera}"][i].numpy().transpose(1, 2, 0)
            for each in cameras:
                difference = float(np.abs(shown - picture(each, row)).mean())
                own, other = (max(own, difference), other) if each == camera else (own, min(other, difference))
        last = batch["observation.state"][i].tolist()
        first = first or last
        seen += 1
print(
    json.dumps(
        {
            "rows": seen,
            "names": [features[key]["names"] for key in ("observation.state", "action")],
            "cameras": cameras,
            "ownPicture": own,
            "otherPicture": other if len(cameras) > 1 else None,
            "first": first,
            "last": last,
        }
    )
)
