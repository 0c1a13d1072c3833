"""Trains a small policy on a pack of demonstrations and exports it as ONNX. Needs nothing but torch.

    bin/farhand export pack stack.npz --from recordings/stack
    python examples/policy-small/train.py stack.npz --out stack.onnx

docs/policies.md has the whole path and the measured results.
"""

import argparse
import json
import math
import struct
import time
import zipfile

import torch
import torch.nn.functional as F
from torch import nn

MIN_STD = 0.01
GRIPPER_MEAN, GRIPPER_STD = 0.6, 0.3
# Answers that a policy gives to one observation, of which it uses the likeliest: two turns of the wrist may both be right
# for a cube, but never their mean.
MODES = 4
# Errors that differ by more than this belong to different answers.
MODE_SCALE = 0.1
# Share of the loss that every answer learns from, so that none is left behind.
EVERY_MODE = 0.02


# The pack: a zip of NumPy arrays, read without NumPy.

DTYPES = {"|i1": torch.int8, "<f4": torch.float32, "<i4": torch.int32}


def read_array(archive, name):
    data = archive.read(name + ".npy")
    length = struct.unpack("<H", data[8:10])[0]
    head = eval(data[10 : 10 + length], {"__builtins__": {}})  # a literal dict, as NumPy writes it
    body = bytearray(data[10 + length :])
    return torch.frombuffer(body, dtype=DTYPES[head["descr"]]).reshape(head["shape"])


class PackCodec(nn.Module):
    """What src/record/pack/dct.ts does to pictures: coefficients of 8 x 8 blocks, quantised; colours at half the size.

    The exported model does the same to what it sees, so that it sees pictures as in its training.
    """

    def __init__(self, meta):
        super().__init__()
        self.width, self.height = meta["widthPx"], meta["heightPx"]
        u = torch.arange(8).float()
        basis = torch.cos((2 * u[None] + 1) * u[:, None] * math.pi / 16) * math.sqrt(2 / 8)
        basis[0] /= math.sqrt(2)
        self.register_buffer("basis", basis)
        for name in ("luma", "chroma"):
            self.register_buffer(name, torch.tensor(meta["tables"][name]).float().reshape(8, 8))

    def quantised(self, plane, table):
        """[n, 1, h, w] to whole numbers [n, blocks, 8, 8]."""
        h, w = plane.shape[2:]
        blocks = plane.reshape(-1, h // 8, 8, w // 8, 8).permute(0, 1, 3, 2, 4).reshape(-1, h * w // 64, 8, 8)
        return ((self.basis @ blocks @ self.basis.T) / table).round().clamp(-127, 127)

    def plane(self, blocks, table, h, w):
        pixels = self.basis.T @ (blocks * table) @ self.basis
        return pixels.reshape(-1, h // 8, w // 8, 8, 8).permute(0, 1, 3, 2, 4).reshape(-1, 1, h, w)

    def decoded(self, y, cb, cr):
        """Quantised blocks to colours 0…255, [n, 3, height, width]."""
        h, w = self.height, self.width
        y = self.plane(y, self.luma, h, w) + 128
        cb, cr = (F.interpolate(self.plane(c, self.chroma, h // 2, w // 2), scale_factor=2.0) for c in (cb, cr))
        rgb = torch.cat([y + 1.402 * cr, y - 0.344136 * cb - 0.714136 * cr, y + 1.772 * cb], 1)
        return rgb.round().clamp(0, 255)

    def forward(self, rgb):
        """Pictures 0…255 as they come out of a pack."""
        r, g, b = rgb[:, 0:1], rgb[:, 1:2], rgb[:, 2:3]
        y = 0.299 * r + 0.587 * g + 0.114 * b - 128
        cb = F.avg_pool2d(-0.168736 * r - 0.331264 * g + 0.5 * b, 2)
        cr = F.avg_pool2d(0.5 * r - 0.418688 * g - 0.081312 * b, 2)
        return self.decoded(self.quantised(y, self.luma), self.quantised(cb, self.chroma), self.quantised(cr, self.chroma))

    def unpacked(self, changes):
        """[64, n, blocks] int8 differences to [n, 3, height, width] uint8."""
        x = changes.to(self.basis.device).cumsum(1).to(torch.int8).permute(1, 2, 0).float().unflatten(2, (8, 8))
        luma = self.width * self.height // 64
        return self.decoded(*x.split([luma, luma // 4, luma // 4], 1)).to(torch.uint8)


class Demonstrations:
    """All rows of the chosen episodes; a sample is a row with pictures and the actions from it on."""

    def __init__(self, files, rows, limit, device, only_person=False):
        self.rows = rows
        states, actions, starts, pictures, learnt = [], [], [], {}, []
        at = 0
        shown = 0
        for file in files:
            archive = zipfile.ZipFile(file)
            meta = json.loads(archive.read("meta.json"))
            self.meta = meta
            codec = PackCodec(meta).to(device)
            for index in range(min(limit or len(meta["episodes"]), len(meta["episodes"]))):
                name = f"episode{index:04d}"
                state, action = read_array(archive, name + ".state"), read_array(archive, name + ".action")
                count = len(state)
                # Mistakes made on purpose are not learnt, only the way out of them; from corrections, what a person did.
                sources = meta["sources"]
                source = read_array(archive, name + ".source")
                wanted = source != sources.index("disturbance")
                if only_person and (source == sources.index("policy")).any():
                    wanted &= source == sources.index("person")
                learnt.append(wanted)
                for camera in meta["cameras"]:
                    x = codec.unpacked(read_array(archive, f"{name}.{camera}"))
                    pictures.setdefault(camera, []).append(x)
                for i, row in enumerate(range(0, count, meta["pictureEvery"])):
                    if wanted[row]:
                        starts.append((at + row, shown + i, at + count - 1))
                shown += len(range(0, count, meta["pictureEvery"]))
                states.append(state)
                actions.append(action)
                at += count
        self.state = torch.cat(states).to(device)
        self.action = torch.cat(actions).to(device)
        self.learnt = torch.cat(learnt).to(device)
        self.pictures = {camera: torch.cat(all) for camera, all in pictures.items()}
        self.samples = torch.tensor(starts, device=device)

    def batch(self, index):
        row, picture, end = self.samples[index].unbind(1)
        ahead = torch.arange(self.rows, device=row.device)
        # Past the end of an episode its last command is repeated: "done, hold".
        rows = torch.minimum(row[:, None] + ahead, end[:, None])
        # A chunk is learnt up to the first row that is not.
        weight = self.learnt[rows].int().cumprod(1).float()
        return {c: x[picture] for c, x in self.pictures.items()}, self.state[row], self.action[rows], weight


# The model: per camera a small CNN that finds 32 points, then a perceptron from points and state to a chunk.


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.a = nn.Conv2d(inputs, outputs, 3, stride, 1)
        self.b = nn.Conv2d(outputs, outputs, 3, 1, 1)
        self.na, self.nb = nn.GroupNorm(8, outputs), nn.GroupNorm(8, outputs)
        self.skip = nn.Identity() if inputs == outputs and stride == 1 else nn.Conv2d(inputs, outputs, 1, stride)

    def forward(self, x):
        return F.relu(self.skip(x) + self.nb(self.b(F.relu(self.na(self.a(x))))))


class Eye(nn.Module):
    def __init__(self, height, width, points=32):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 32, 5, 2, 2), nn.GroupNorm(8, 32), nn.ReLU())
        self.blocks = nn.Sequential(Block(32, 48, 2), Block(48, 64, 1), Block(64, 64, 1))
        self.points = nn.Conv2d(64, points, 1)
        self.temperature = nn.Parameter(torch.ones(1))
        h, w = math.ceil(height / 4), math.ceil(width / 4)
        ys, xs = torch.meshgrid(torch.linspace(-1, 1, h), torch.linspace(-1, 1, w), indexing="ij")
        self.register_buffer("grid", torch.stack([xs.flatten(), ys.flatten()], 1))

    def forward(self, x):
        # In half precision a point would be known to half a pixel only.
        maps = self.points(self.blocks(self.stem(x))).flatten(2).float()
        with torch.autocast(x.device.type, enabled=False):
            return (torch.softmax(maps * self.temperature, 2) @ self.grid).flatten(1)


class SmallPolicy(nn.Module):
    def __init__(self, meta, rows, stats):
        super().__init__()
        self.cameras = meta["cameras"]
        self.codec = PackCodec(meta)
        width = stats["state_mean"].numel()
        self.rows, self.width = rows, width
        self.eyes = nn.ModuleList([Eye(meta["heightPx"], meta["widthPx"]) for _ in self.cameras])
        inputs = width + 64 * len(self.cameras)
        layers = []
        for _ in range(3):
            layers += [nn.Linear(inputs, 512), nn.ReLU()]
            inputs = 512
        self.body = nn.Sequential(*layers)
        self.answers = nn.Linear(512, MODES * rows * width)
        self.choice = nn.Linear(512, MODES)
        for name, value in stats.items():
            self.register_buffer(name, value)

    def normal(self, frames, state):
        """From pictures in -1…1 and a normalised state to normalised actions [n, modes, rows, width] and their likelihoods."""
        seen = [eye(x) for eye, x in zip(self.eyes, frames)]
        with torch.autocast(state.device.type, enabled=False):
            x = self.body(torch.cat([state, *seen], 1))
            return self.answers(x).reshape(-1, MODES, self.rows, self.width), self.choice(x)

    def forward(self, *inputs):
        """As exported: uint8 pictures [n, height, width, 3] in the order of the cameras, then the state in radians."""
        frames = [self.codec(x.permute(0, 3, 1, 2).float()) / 127.5 - 1 for x in inputs[:-1]]
        state = (inputs[-1] - self.state_mean) / self.state_std
        answers, choice = self.normal(frames, state)
        likeliest = choice.argmax(1)[:, None, None, None].expand(-1, 1, self.rows, self.width)
        return answers.gather(1, likeliest).squeeze(1) * self.action_std + self.action_mean


def loss_of(answers, choice, wanted, weight):
    """The nearest answer learns, and so does the choice of it: the likelihood of a mixture, each part as wide as MODE_SCALE."""
    error = (answers.float() - wanted[:, None]).abs().mean(3)
    share = weight / weight.sum(1, keepdim=True).clamp(min=1)
    error = (error * share[:, None]).sum(2)
    best = -MODE_SCALE * torch.logsumexp(F.log_softmax(choice, 1) - error / MODE_SCALE, 1)
    # A short chunk counts for less: it ends where a mistake begins.
    counts = weight.mean(1)
    return ((best + EVERY_MODE * error.mean(1)) * counts).sum() / counts.sum()


def statistics(data):
    def of(values):
        mean, std = values.mean(0), values.std(0).clamp(min=MIN_STD)
        if data.meta["gripper"]:
            mean[-1], std[-1] = GRIPPER_MEAN, GRIPPER_STD
        return mean, std

    state_mean, state_std = of(data.state)
    action_mean, action_std = of(data.action)
    return dict(state_mean=state_mean, state_std=state_std, action_mean=action_mean, action_std=action_std)


def augmented(x):
    """Shift up to 2 px, gain ±15 %, colour offset ±10 %, noise 2 %; differs by picture."""
    n, _, h, w = x.shape
    device = x.device
    x = F.pad(x, (2, 2, 2, 2), mode="replicate")
    dy = torch.randint(0, 5, (n, 1), device=device) + torch.arange(h, device=device)
    dx = torch.randint(0, 5, (n, 1), device=device) + torch.arange(w, device=device)
    x = x.gather(2, dy[:, None, :, None].expand(n, 3, h, w + 4)).gather(3, dx[:, None, None, :].expand(n, 3, h, w))
    gain = 1 + 0.15 * (2 * torch.rand(n, 1, 1, 1, device=device) - 1)
    offset = 0.2 * (2 * torch.rand(n, 3, 1, 1, device=device) - 1) / 2
    return x * gain + offset + 0.02 * torch.randn_like(x)


def rate(step, done, warm_up=500):
    """Warm-up by steps, then a cosine to 0; `done` is the share of the training that is over."""
    return min(1, step / warm_up) * 0.5 * (1 + math.cos(math.pi * min(1, done)))


def train(data, args, device):
    stats = statistics(data)
    torch.manual_seed(args.seed)
    model = SmallPolicy(data.meta, args.rows, stats).to(device)
    if args.start:
        model.load_state_dict(torch.load(args.start, map_location=device, weights_only=True), strict=False)
    names, live = zip(*model.named_parameters())
    average = [value.detach().clone() for value in live]
    optimiser = torch.optim.AdamW(model.parameters(), args.lr, betas=(0.9, 0.98), weight_decay=1e-3)
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{len(data.samples)} samples of {len(data.state)} rows, {parameters / 1e6:.2f} M parameters, {device}", flush=True)
    started = time.time()
    total = 0.0
    for step in range(args.steps):
        done = max(step / args.steps, (time.time() - started) / 60 / args.minutes)
        if done >= 1:
            break
        for group in optimiser.param_groups:
            group["lr"] = args.lr * rate(step, done)
        frames, state, actions, weight = data.batch(torch.randint(len(data.samples), (args.batch,), device=device))
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            seen = [augmented(frames[c].float() / 127.5 - 1) for c in model.cameras]
            known = (state - model.state_mean) / model.state_std
            known = known + 0.02 * torch.randn_like(known)
            wanted = (actions - model.action_mean) / model.action_std
            loss = loss_of(*model.normal(seen, known), wanted, weight)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5)
        optimiser.step()
        with torch.no_grad():
            torch._foreach_lerp_(average, list(live), 1 - min(0.998, (1 + step) / (10 + step)))
        total += loss.item() if step % 50 == 0 else 0
        if step % 1000 == 999:
            print(f"step {step + 1}: loss {total / 20:.4f}, {time.time() - started:.0f} s", flush=True)
            total = 0.0
    learnt = dict(zip(names, average))
    model.load_state_dict(learnt, strict=False)
    if args.save:
        torch.save(learnt, args.save)
    print(f"trained {step + 1} steps of {args.batch} in {time.time() - started:.0f} s", flush=True)
    return model.eval()


def export(model, meta, file, task):
    model = model.cpu().float()
    pictures = [torch.zeros(1, meta["heightPx"], meta["widthPx"], 3, dtype=torch.uint8) for _ in meta["cameras"]]
    state = torch.zeros(1, model.width)
    torch.onnx.export(
        model,
        (*pictures, state),
        file,
        input_names=[*meta["cameras"], "state"],
        output_names=["actions"],
        opset_version=17,
        dynamo=False,
    )
    facts = dict(
        fps=meta["fps"], rows=model.rows, joints=meta["joints"], gripper=meta["gripper"], cameras=meta["cameras"],
        widthPx=meta["widthPx"], heightPx=meta["heightPx"], task=task, row0="observation",
    )  # fmt: skip
    with open(file, "ab") as model_file:
        model_file.write(metadata_prop("farhand", json.dumps(facts)))


def metadata_prop(key, value):
    """An entry of ONNX's `metadata_props` (onnx.proto3, field 14 of ModelProto). Appending a field to a message is valid."""

    def field(number, data):
        length, size = len(data), b""
        while length > 127:
            size += bytes([length & 127 | 128])
            length >>= 7
        return bytes([number << 3 | 2]) + size + bytes([length]) + data

    return field(14, field(1, key.encode()) + field(2, value.encode()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("packs", nargs="+", help="from `farhand export pack`")
    parser.add_argument("--out", required=True, help="ONNX file to write")
    parser.add_argument("--episodes", type=int, default=0, help="only the first N of each pack")
    parser.add_argument("--only-person", action="store_true", help="from mixed episodes, only a person's rows")
    parser.add_argument("--rows", type=int, default=14, help="rows of a chunk (default: 14, 1.4 s at 10 per second)")
    parser.add_argument("--steps", type=int, default=12000)
    parser.add_argument("--minutes", type=float, default=20, help="ends by then, with fewer steps (default: 20)")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--lr", type=float, default=4e-4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", help="file for the parameters, for a later --start")
    parser.add_argument("--start", help="begins with the parameters that --save wrote, instead of random ones")
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    started = time.time()
    data = Demonstrations(args.packs, args.rows, args.episodes, device, args.only_person)
    print(f"read in {time.time() - started:.0f} s", flush=True)
    model = train(data, args, device)
    export(model, data.meta, args.out, data.meta["episodes"][0]["task"])


main()
