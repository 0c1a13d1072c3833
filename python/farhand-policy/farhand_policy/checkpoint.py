"""A LeRobot checkpoint with its own processors, asked for a chunk at a time."""

import json
from pathlib import Path

import torch
import torch.nn.functional as F
from lerobot.configs.policies import PreTrainedConfig
from lerobot.policies.factory import get_policy_class, make_pre_post_processors
from lerobot.policies.utils import populate_queues, prepare_observation_for_inference

STATE, EFFORT, IMAGES = "observation.state", "observation.effort", "observation.images"


class Checkpoint:
    def __init__(self, path, device="cpu"):
        config = PreTrainedConfig.from_pretrained(path)
        config.device = device
        self.config = config
        self.device = torch.device(device)
        self.policy = get_policy_class(config.type).from_pretrained(path, config=config)
        overrides = {"device_processor": {"device": device}}
        self.before, self.after = make_pre_post_processors(config, path, preprocessor_overrides=overrides)
        self.fps = dataset_fps(path)

    @property
    def cameras(self):
        return [key.removeprefix(IMAGES + ".") for key in self.config.image_features]

    def reset(self):
        self.policy.reset()

    def observation(self, request):
        """LeRobot's names and sizes for what Farhand sends."""
        seen = {}
        if STATE in self.config.input_features:
            width = self.config.input_features[STATE].shape[0]
            state = request["observation/state"]
            if len(state) < width:
                raise ValueError(f"the policy needs {width} joints, the robot has {len(state)}")
            seen[STATE] = state[:width].copy()
        # Where the rig reports it: most policies do not read it, even if it was in their dataset.
        effort = request.get("observation/effort")
        if EFFORT in self.config.input_features and effort is not None:
            seen[EFFORT] = effort[: self.config.input_features[EFFORT].shape[0]].copy()
        for camera in self.cameras:
            picture = request.get(f"observation/{camera}")
            if picture is None:
                raise ValueError(f"the policy needs a camera {camera}; name the rig's cameras as in the dataset")
            seen[f"{IMAGES}.{camera}"] = self.resized(picture, f"{IMAGES}.{camera}")
        return seen

    def resized(self, picture, key):
        _, height, width = self.config.image_features[key].shape
        if picture.shape[:2] == (height, width):
            return picture.copy()
        x = torch.from_numpy(picture.copy()).permute(2, 0, 1)[None].float()
        x = F.interpolate(x, (height, width), mode="bilinear", antialias=True)
        return x[0].permute(1, 2, 0).round().clamp(0, 255).byte().numpy()

    @torch.inference_mode()
    def actions(self, request):
        """Rows from the observation on, float32 [rows, width]."""
        seen = prepare_observation_for_inference(
            self.observation(request), self.device, task=request.get("prompt", ""), robot_type=""
        )
        # The processor adds what a dataset's row has besides, as None.
        batch = {key: value for key, value in self.before(seen).items() if value is not None}
        if self.config.type == "diffusion":
            # It reads the last observations from its queues, which only its single-step call fills.
            batch[IMAGES] = torch.stack([batch[key] for key in self.config.image_features], dim=-4)
            populate_queues(self.policy._queues, batch)
        chunk = self.policy.predict_action_chunk(batch)[0]
        return self.after(chunk).float().cpu().numpy()


def dataset_fps(path):
    """Rows per second of the dataset that it was trained on, if that is still where it was; else None."""
    try:
        trained = json.loads((Path(path) / "train_config.json").read_text())
        return json.loads((Path(trained["dataset"]["root"]) / "meta" / "info.json").read_text())["fps"]
    except (OSError, KeyError, TypeError, ValueError):
        return None
