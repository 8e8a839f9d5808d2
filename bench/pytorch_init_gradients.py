#!/usr/bin/env python3
"""The work of init_gradients in PyTorch (1.13 or later), in double precision, for timing.

Computes what the published run computes: C1 (analytic gradient against central differences, depth
6, both placements), C2 (RMSNorm against LayerNorm, RMSNorm by its formula since old versions have
none), the networks of the table over layers, and those of the depth table. Both tables show the
deepest common network; the published run computes it for each, and so does this script unless
--once is given.

Prints one JSON object: the seconds of each part, C1 and C2, and for each scale, depth and placement
the median over seeds of the last block's ||dLoss/dW2||. bench/compare_with_pytorch reads it.
"""
import argparse
import json
import statistics
import time

import torch
from torch import nn

IMAGES, SIDE, PATCH, CLASSES = 256, 8, 2, 10
WIDTH, HEADS, FFN = 64, 4, 256
PLACEMENTS = ("post", "pre")
CHECKED_DEPTH, STEP = 6, 1e-6


def load_tokens(path):
    """Patches (256, 16, 4) of standardized pixels, and one label per token (4096)."""
    with open(path, encoding="ascii") as lines:
        rows = [[float(field) for field in line.split(",")] for line, _ in zip(lines, range(IMAGES))]
    table = torch.tensor(rows)
    images = table[:, :-1].reshape(IMAGES, SIDE, SIDE)
    images = (images - images.mean()) / images.std()
    grid = SIDE // PATCH
    patches = images.reshape(IMAGES, grid, PATCH, grid, PATCH).transpose(2, 3)
    patches = patches.reshape(IMAGES, grid * grid, PATCH * PATCH)
    return patches, table[:, -1].long().repeat_interleave(grid * grid)


class Network(nn.Module):
    """Embedded digits -> blocks -> final norm (pre-norm only) -> logits, at initialization."""

    def __init__(self, patches, depth, placement, seed, scale=1.0):
        super().__init__()
        pre = placement == "pre"
        generator = torch.Generator().manual_seed(seed)
        embedding = torch.randn(patches.shape[-1], WIDTH, generator=generator) / 2.0
        positions = torch.randn(patches.shape[-2], WIDTH, generator=generator)
        self.x = scale * (patches @ embedding + positions) / 2.0**0.5
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(WIDTH, HEADS, FFN, dropout=0.0, batch_first=True, norm_first=pre)
            for _ in range(depth)
        )
        self.final_norm = nn.LayerNorm(WIDTH) if pre else nn.Identity()
        self.head = nn.Linear(WIDTH, CLASSES)
        self.stream = []
        self.watch_stream(pre)
        self.initialize(generator)

    @torch.no_grad()
    def initialize(self, generator):
        """Xavier-normal matrices in the order of the parameters; gains are 1 already."""
        for parameter in [*self.blocks.parameters(), *self.head.parameters()]:
            if parameter.dim() == 2:
                deviation = (2.0 / sum(parameter.shape)) ** 0.5
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * deviation)
        for name, parameter in self.named_parameters():
            if name.endswith("bias"):
                parameter.zero_()

    def watch_stream(self, pre):
        """Record |x|^2 / d where a norm reads the stream."""

        def record(_, inputs):
            self.stream.append(inputs[0].square().sum(-1).mean().item() / WIDTH)

        for block in self.blocks:
            (block if pre else block.norm2).register_forward_pre_hook(record)
        if pre:
            self.final_norm.register_forward_pre_hook(record)

    def loss(self, labels):
        x = self.x
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.final_norm(x))
        return nn.functional.cross_entropy(logits.reshape(-1, CLASSES), labels)


def w2_gradient_norms(tokens, depth, placement, seed, scale):
    patches, labels = tokens
    network = Network(patches, depth, placement, seed, scale)
    network.loss(labels).backward()
    return [block.linear2.weight.grad.norm().item() for block in network.blocks]


def finite_difference_errors(tokens, placement):
    """C1: relative errors for the largest entry of dLoss/dW2 in the first and the last block."""
    patches, labels = tokens
    network = Network(patches, CHECKED_DEPTH, placement, 0)
    network.loss(labels).backward()
    errors = []
    for block in (network.blocks[0], network.blocks[-1]):
        weight = block.linear2.weight
        entry = weight.grad.abs().argmax()
        flat = weight.detach().view(-1)
        at = flat[entry].item()
        losses = []
        for shifted in (at + STEP, at - STEP):
            flat[entry] = shifted
            with torch.no_grad():
                losses.append(network.loss(labels).item())
        flat[entry] = at
        numerical = (losses[0] - losses[1]) / (2.0 * STEP)
        errors.append(abs(weight.grad.view(-1)[entry].item() - numerical) / abs(numerical))
    return errors


def norm_differences(patches):
    """C2: max |RMSNorm - LayerNorm| on centred tokens, and on tokens as they are."""
    x = Network(patches, 1, "pre", 0).x

    def difference(v):
        rms = v / (v.square().mean(-1, keepdim=True) + 1e-5).sqrt()
        return (rms - nn.functional.layer_norm(v, (WIDTH,), eps=1e-5)).abs().max().item()

    return {"centred": difference(x - x.mean(-1, keepdim=True)), "uncentred": difference(x)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--digits", required=True, help="data/digits.csv: 64 pixels and the label")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--layers", type=int, nargs="+", default=[6, 12, 24], help="of the depth table")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--once", action="store_true", help="no network twice")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.set_default_dtype(torch.float64)

    start = time.perf_counter()
    seconds = {}

    def lap(part):
        seconds[part] = time.perf_counter() - start - sum(seconds.values())

    tokens = load_tokens(arguments.digits)
    c1 = {placement: finite_difference_errors(tokens, placement) for placement in PLACEMENTS}
    c2 = norm_differences(tokens[0])
    lap("checks")
    norms = {}
    profile_depth = 12 if 12 in arguments.layers else max(arguments.layers)
    for placement in PLACEMENTS:
        for seed in arguments.seeds:
            cell = (profile_depth, placement, seed, 1.0)
            norms[cell] = w2_gradient_norms(tokens, *cell)
    lap("table over layers")
    medians = []
    for scale in (1.0, WIDTH**-0.5):
        for depth in arguments.layers:
            for placement in PLACEMENTS:
                last = []
                for seed in arguments.seeds:
                    cell = (depth, placement, seed, scale)
                    if not (arguments.once and cell in norms):
                        norms[cell] = w2_gradient_norms(tokens, *cell)
                    last.append(norms[cell][-1])
                medians.append({"layers": depth, "placement": placement, "scale": scale,
                                "last_w2_grad_norm": statistics.median(last)})
    lap("depth table")
    print(json.dumps({"torch": torch.__version__, "threads": arguments.threads, "seconds": seconds,
                      "c1": c1, "c2": c2, "medians": medians}, indent=1))


if __name__ == "__main__":
    main()
