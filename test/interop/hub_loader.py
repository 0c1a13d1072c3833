"""Loads a dataset by its name from a hub with LeRobot, which asks Hugging Face's own client; prints JSON."""

import json
import os
import sys

url, token, name, root = sys.argv[1:]
os.environ.update(HF_ENDPOINT=url, HF_TOKEN=token, HF_HUB_OFFLINE="0", HF_HUB_DISABLE_XET="1", HF_HOME=root + "-home")

from lerobot.datasets.lerobot_dataset import LeRobotDataset  # noqa: E402

dataset = LeRobotDataset(name, root=root)
last = dataset[len(dataset) - 1]
print(json.dumps({"rows": len(dataset), "episodes": dataset.num_episodes, "task": last["task"], "keys": sorted(last)}))
