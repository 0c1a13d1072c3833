"""Opens a dataset with LeRobot's loader, or writes one with its writer. Prints one JSON line."""

import json
import sys

import numpy as np
import torch
from lerobot.datasets.lerobot_dataset import LeRobotDataset
from lerobot.datasets.utils import dataset_to_policy_features


def load(root: str, camera: str) -> dict:
    dataset = LeRobotDataset("farhand/interop", root=root)
    key = f"observation.images.{camera}"
    rows = 0
    frames = 0
    for batch in torch.utils.data.DataLoader(dataset, batch_size=8, num_workers=0):
        rows += batch["index"].shape[0]
        frames += batch[key].shape[0]
        assert torch.isfinite(batch["action"]).all() and torch.isfinite(batch[key]).all()
    height = dataset[0][key].shape[1]
    # The upper half of a test picture has a uniform brightness that encodes its number.
    levels = [float(dataset[i][key][:, : height // 3, :].mean()) * 255 for i in range(len(dataset))]
    step = 3 / dataset.fps
    times = {"action": [0, step], key: [-step, 0]}
    ahead = LeRobotDataset("farhand/interop", root=root, delta_timestamps=times)
    window = ahead[10]
    last = LeRobotDataset("farhand/interop", root=root, episodes=[dataset.num_episodes - 1])
    return {
        "backend": dataset.video_backend,
        "rows": rows,
        "frames": frames,
        "episodes": dataset.num_episodes,
        "fps": dataset.fps,
        "levels": levels,
        "actions": [dataset.hf_dataset[i]["action"].tolist() for i in range(len(dataset))],
        "tasks": [dataset[i]["task"] for i in (0, len(dataset) - 1)],
        "window": [list(window["action"].shape), list(window[key].shape)],
        "lastRows": len(last),
        "stats": sorted(dataset.meta.stats["action"].keys()),
        "inputs": sorted(dataset_to_policy_features(dataset.meta.features)),
        "imageStats": list(np.asarray(dataset.meta.stats[key]["mean"]).shape),
    }


def write(root: str) -> dict:
    features = {
        "observation.state": {"dtype": "float32", "shape": (2,), "names": ["a", "b"]},
        "action": {"dtype": "float32", "shape": (2,), "names": ["a", "b"]},
        "observation.images.top": {
            "dtype": "video",
            "shape": (48, 64, 3),
            "names": ["height", "width", "channels"],
        },
    }
    dataset = LeRobotDataset.create("farhand/theirs", fps=30, features=features, root=root, robot_type="test")
    for episode in range(3):
        for i in range(20 + episode):
            value = np.array([np.sin(i / 10), episode], dtype=np.float32)
            picture = np.full((48, 64, 3), 10 * i, dtype=np.uint8)
            row = {"observation.state": value, "action": value, "observation.images.top": picture}
            dataset.add_frame({**row, "task": f"task {episode % 2}"})
        dataset.save_episode()
    dataset.finalize()
    return {"episodes": dataset.num_episodes}


if __name__ == "__main__":
    action, root, *rest = sys.argv[1:]
    print(json.dumps(load(root, *rest) if action == "load" else write(root)))
