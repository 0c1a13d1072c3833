"""Writes a tiny ACT or Diffusion policy with random weights, and its processors, as `lerobot-train` does."""

import sys

import torch
from lerobot.configs.types import FeatureType, PolicyFeature
from lerobot.policies.act.configuration_act import ACTConfig
from lerobot.policies.diffusion.configuration_diffusion import DiffusionConfig
from lerobot.policies.factory import get_policy_class, make_pre_post_processors

torch.manual_seed(0)
folder, width, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
inputs = {
    # As in exports of rigs that report it; neither policy reads it.
    "observation.effort": PolicyFeature(FeatureType.STATE, (width,)),
    "observation.state": PolicyFeature(FeatureType.STATE, (width,)),
    "observation.images.front": PolicyFeature(FeatureType.VISUAL, (3, 64, 64)),
}
outputs = {"action": PolicyFeature(FeatureType.ACTION, (width,))}
shared = dict(input_features=inputs, output_features=outputs, pretrained_backbone_weights=None, device="cpu", push_to_hub=False)
if kind == "act":
    config = ACTConfig(
        chunk_size=8, n_action_steps=8, dim_model=32, n_heads=2, dim_feedforward=32, n_encoder_layers=1, use_vae=False, **shared
    )  # fmt: skip
else:
    config = DiffusionConfig(
        horizon=16, n_action_steps=8, down_dims=(16, 32), num_train_timesteps=4, crop_shape=None, spatial_softmax_num_keypoints=4,
        **shared,
    )  # fmt: skip
vector = {"mean": torch.zeros(width), "std": torch.ones(width)}
picture = {"mean": torch.zeros(3, 1, 1), "std": torch.ones(3, 1, 1)}
# Actions around 10: only a policy that undoes its normalisation gives them.
action = {"mean": torch.full((width,), 10.0), "std": torch.full((width,), 0.001)}
# Diffusion scales actions by their range, and clips what it samples to that.
action |= {"min": torch.full((width,), 9.99), "max": torch.full((width,), 10.01)}
vector |= {"min": -torch.ones(width), "max": torch.ones(width)}
stats = {"observation.effort": vector, "observation.state": vector, "observation.images.front": picture, "action": action}
before, after = make_pre_post_processors(config, dataset_stats=stats)
get_policy_class(kind)(config).save_pretrained(folder)
before.save_pretrained(folder)
after.save_pretrained(folder)
