#!/usr/bin/env python3
"""The training step of the default train_digits in PyTorch (1.13 or later), in double precision.

The same model, batches, schedule, clipping and AdamW, from the weights in the file that
bench/train_step --start wrote. Prints one JSON object as that program does: the loss of every step,
and wall and processor time per measured step. bench/compare_with_pytorch reads both.

What PyTorch offers for speed is used where it helps: gradients are set to None, not to zero, and no
accuracy is computed (train_digits has it in its progress). AdamW by lists of tensors (--foreach) is
not faster on a processor than one tensor at a time; a fused one exists for GPUs only.
"""
import argparse
import json
import math
import resource
import struct
import time

import torch
from torch import nn

SIDE, PATCH, CLASSES = 8, 2, 10
LAYERS, WIDTH, HEADS, FFN = 2, 48, 4, 96
PEAK, WARMUP, EPOCHS, BATCH, CLIP, DECAY = 3e-3, 100, 30, 32, 1.0, 0.05
TRAIN_SHARE, SPLIT_SEED, SEED = 0.8, 0, 0


def read_weights(path):
    """The tensors of a safetensors file: 8 bytes of size, a JSON header, the numbers."""
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = bytearray(file.read())
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        if not name.startswith("training."):
            tensors[name] = torch.frombuffer(
                data[first:last], dtype=torch.float64).reshape(entry["shape"])
    return tensors


def load_training_images(path):
    """The training part of the split: pixels 0 .. 16 as -1 .. 1, and labels."""
    with open(path, encoding="ascii") as lines:
        table = torch.tensor([[float(field) for field in line.split(",")] for line in lines])
    order = torch.randperm(len(table), generator=torch.Generator().manual_seed(SPLIT_SEED))
    chosen = order[: int(TRAIN_SHARE * len(table))]
    return (table[chosen, :-1] / 8.0 - 1.0).reshape(-1, SIDE, SIDE), table[chosen, -1].long()


def order_generator():
    """Seeded with the second number drawn from the seed's own stream; the first is the weights'."""
    root = torch.Generator().manual_seed(SEED)
    draws = torch.empty(2, dtype=torch.int64).random_(generator=root)
    return torch.Generator().manual_seed(int(draws[1]) & 0xFFFFFFFF)


def batches(images, labels):
    """Without end: epoch after epoch, each in an order of its own."""
    generator = order_generator()
    while True:
        for chosen in torch.randperm(len(images), generator=generator).split(BATCH):
            yield images[chosen], labels[chosen]


class VisionTransformer(nn.Module):
    """Parameters have the names that they have in the file."""

    def __init__(self):
        super().__init__()
        tokens = (SIDE // PATCH) ** 2
        self.patch_embedding = nn.Linear(PATCH * PATCH, WIDTH)
        self.position_embedding = nn.Parameter(torch.empty(tokens, WIDTH))
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, FFN, dropout=0.0, activation="gelu",
                                           batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, LAYERS, norm=nn.LayerNorm(WIDTH))
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, images):
        grid = SIDE // PATCH
        patches = images.reshape(-1, grid, PATCH, grid, PATCH).transpose(2, 3)
        x = self.patch_embedding(patches.reshape(-1, grid * grid, PATCH * PATCH))
        return self.head(self.encoder(x + self.position_embedding).mean(1))


def rate(step, total):
    """Of step 1, 2, ...: linear warmup, then a cosine to zero one step after the last."""
    if step <= WARMUP:
        return PEAK * step / WARMUP
    return PEAK * 0.5 * (1.0 + math.cos(math.pi * (step - WARMUP) / (total - WARMUP + 1)))


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--digits", required=True, help="data/digits.csv: 64 pixels and the label")
    parser.add_argument("--start", required=True, help="weights, as train_step --start wrote them")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--warm-up", type=int, default=50, help="steps before the clock starts")
    parser.add_argument("--steps", type=int, default=135, help="steps that are measured")
    parser.add_argument("--foreach", action="store_true", help="AdamW by lists of tensors")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.set_default_dtype(torch.float64)

    images, labels = load_training_images(arguments.digits)
    model = VisionTransformer()
    model.load_state_dict(read_weights(arguments.start))
    parameters = list(model.parameters())
    groups = [{"params": [each for each in parameters if each.dim() >= 2]},
              {"params": [each for each in parameters if each.dim() < 2], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=0.0, weight_decay=DECAY, foreach=arguments.foreach)
    total = EPOCHS * math.ceil(len(images) / BATCH)
    examples = batches(images, labels)
    losses = []

    def step():
        inputs, targets = next(examples)
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, CLIP)
        for group in optimizer.param_groups:
            group["lr"] = rate(len(losses) + 1, total)
        optimizer.step()
        losses.append(loss.item())

    for _ in range(arguments.warm_up):
        step()
    wall, processor = time.perf_counter(), processor_seconds()
    for _ in range(arguments.steps):
        step()
    print(json.dumps({"losses": losses,
                      "wall": (time.perf_counter() - wall) / arguments.steps,
                      "processor": (processor_seconds() - processor) / arguments.steps}))


if __name__ == "__main__":
    main()
