"""Writes a tiny ACT policy with random weights, and its processors, as `lerobot-train` does."""

import sys

import torch
from lerobot.configs.types import FeatureType, PolicyFeature
from lerobot.policies.act.configuration_act import ACTConfig
from lerobot.policies.act.modeling_act import ACTPolicy
from lerobot.policies.factory import make_pre_post_processors

torch.manual_seed(0)
folder, width = sys.argv[1], int(sys.argv[2])
config = ACTConfig(
    input_features={
        "observation.state": PolicyFeature(FeatureType.STATE, (width,)),
        "observation.images.front": PolicyFeature(FeatureType.VISUAL, (3, 64, 64)),
    },
    output_features={"action": PolicyFeature(FeatureType.ACTION, (width,))},
    chunk_size=8, n_action_steps=8, dim_model=32, n_heads=2, dim_feedforward=32, n_encoder_layers=1,
    use_vae=False, pretrained_backbone_weights=None, device="cpu", push_to_hub=False,
)  # fmt: skip
vector = {"mean": torch.zeros(width), "std": torch.ones(width)}
picture = {"mean": torch.zeros(3, 1, 1), "std": torch.ones(3, 1, 1)}
# Actions around 10: only a policy that undoes its normalisation gives them.
action = {"mean": torch.full((width,), 10.0), "std": torch.full((width,), 0.001)}
stats = {"observation.state": vector, "observation.images.front": picture, "action": action}
before, after = make_pre_post_processors(config, dataset_stats=stats)
ACTPolicy(config).save_pretrained(folder)
before.save_pretrained(folder)
after.save_pretrained(folder)
