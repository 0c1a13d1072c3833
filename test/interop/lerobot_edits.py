"""Compares what LeRobot reads of an edited dataset with its source, or with numpy. Prints one JSON line."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas
from lerobot.datasets.lerobot_dataset import LeRobotDataset

# These follow from the place of a row in the new dataset.
RENUMBERED = {"index", "episode_index", "frame_index", "timestamp", "task_index", "task", "next.done"}
QUANTILES = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}


def same_row(row: dict, origin: dict) -> None:
    assert set(row) == set(origin), set(row) ^ set(origin)
    for key in set(row) - RENUMBERED:
        equal = row[key] == origin[key]
        assert equal if isinstance(equal, bool) else bool(equal.all()), f"{key} of row {int(row['index'])}"


def rows(root: str, described: str) -> dict:
    """Each part: from which dataset, its first row there, how many, and the task that they must have."""
    parts = json.loads(described)
    edited = LeRobotDataset("farhand/edited", root=root)
    assert edited.num_episodes == len(parts), edited.num_episodes
    assert len(edited) == sum(part["count"] for part in parts), len(edited)
    assert list(edited.meta.tasks.index) == list(dict.fromkeys(part["task"] for part in parts))
    at = 0
    for episode, part in enumerate(parts):
        source = LeRobotDataset("farhand/source", root=part["from"])
        alone = LeRobotDataset("farhand/edited", root=root, episodes=[episode])
        count = part["count"]
        assert len(alone) == count and edited.meta.episodes[episode]["tasks"] == [part["task"]]
        for i in range(count):
            row = edited[at]
            same_row(row, source[part["first"] + i])
            assert [int(row[key]) for key in ("index", "episode_index", "frame_index")] == [at, episode, i]
            assert abs(float(row["timestamp"]) - i / edited.fps) < 1e-5 and row["task"] == part["task"]
            assert "next.done" not in row or bool(row["next.done"]) == (i == count - 1)
            at += 1
        for i in (0, count - 1):
            same_row(alone[i], edited[at - count + i])
    return {"rows": at, "cameras": len(edited.meta.camera_keys)}


def numbers(table: pandas.DataFrame, key: str) -> dict:
    """Exact, but for quantiles: LeRobot takes the mean of those of the episodes, weighted by their length."""
    values = np.stack(table[key].map(np.atleast_1d)).astype(np.float64)
    episodes = [values[table["episode_index"] == episode] for episode in table["episode_index"].unique()]
    weights = [len(episode) for episode in episodes]
    quantiles = {
        name: np.average([np.quantile(each, part, axis=0) for each in episodes], axis=0, weights=weights)
        for name, part in QUANTILES.items()
    }
    exact = {name: getattr(values, name)(axis=0) for name in ("min", "max", "mean", "std")}
    return {**exact, **quantiles, "count": np.array([len(values)])}


def stats(root: str) -> dict:
    """How far the statistics that LeRobot reads are from those of the data, in the worst element."""
    dataset = LeRobotDataset("farhand/edited", root=root)
    files = sorted(Path(root).glob("data/*/*.parquet"))
    table = pandas.concat([pandas.read_parquet(file) for file in files], ignore_index=True)
    keys = [key for key, feature in dataset.features.items() if feature["dtype"] not in ("video", "string")]
    worst = 0.0
    for key in keys:
        due = numbers(table, key)
        read = dataset.meta.stats[key]
        assert set(read) == set(due), key
        for name, value in due.items():
            assert read[name].shape == value.shape, f"{key} {name}"
            worst = max(worst, float(np.max(np.abs(read[name] - value) / (1 + np.abs(value)))))
    pictures = {}
    for key in dataset.meta.camera_keys:
        seen = np.stack([dataset[i][key].numpy() for i in range(len(dataset))])
        read = dataset.meta.stats[key]
        assert int(read["count"][0]) == len(seen), read["count"]
        pictures[key] = {
            name: float(np.max(np.abs(read[name].ravel() - getattr(seen, name)(axis=(0, 2, 3)))))
            for name in ("mean", "std")
        }
    return {"features": len(keys), "worst": worst, "pictures": pictures}


if __name__ == "__main__":
    action, root, *rest = sys.argv[1:]
    print(json.dumps(rows(root, *rest) if action == "rows" else stats(root)))
