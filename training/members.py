"""Several readers as one network: the first dimension of each weight is the reader."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as f

from training.base import HEADS, HIDDEN, LAYERS


class Members(nn.Module):
    """`count` readers; see `training.model.Reader` for the architecture of each."""

    def __init__(
        self,
        weights: dict[str, Any],
        words: Tensor,
        sizes: tuple[int, int],
        *,
        count: int,
    ) -> None:
        super().__init__()
        self.count = count
        self.register_buffer("words", words, persistent=False)
        chance = torch.Generator().manual_seed(count)
        self.w = nn.ParameterDict()
        t = {name: torch.from_numpy(np.ascontiguousarray(v)) for name, v in weights.items()}
        self._add("places", t["emb.pos"] + t["emb.type"][0])
        self._add("segments", torch.zeros(3, HIDDEN))
        self._add("eln_w", t["emb.ln.w"])
        self._add("eln_b", t["emb.ln.b"])
        for n in range(LAYERS):
            self._add(f"l{n}_qkv_w", torch.cat([t[f"l{n}.{s}.w"] for s in "qkv"]))
            self._add(f"l{n}_qkv_b", torch.cat([t[f"l{n}.{s}.b"] for s in "qkv"]))
            for part in ("ao", "fi", "fo", "aln", "oln"):
                self._add(f"l{n}_{part}_w", t[f"l{n}.{part}.w"])
                self._add(f"l{n}_{part}_b", t[f"l{n}.{part}.b"])
        for name, size in zip(("token_head", "text_head"), sizes, strict=True):
            head = torch.randn(count, size, HIDDEN, generator=chance) * 0.02
            self.w[f"{name}_w"] = nn.Parameter(head)
            self._add(f"{name}_b", torch.zeros(size))

    def _add(self, name: str, value: Tensor) -> None:
        self.w[name] = nn.Parameter(value.float().expand(self.count, *value.shape).clone())

    def forward(
        self, ids: Tensor, segments: Tensor, mask: Tensor, pooled: Tensor, drop: float = 0.0
    ) -> tuple[Tensor, Tensor]:
        """Return token and text scores of each member. The inputs are (members, batch, length)."""
        e, b, length = ids.shape
        w = self.w
        x = self.words[ids].float() + w["places"][:, None, :length]  # type: ignore[index]
        kinds = segments[..., None] == torch.arange(3, device=segments.device)
        kinds = kinds.to(x.dtype).view(e, b * length, 3)
        x = x + torch.bmm(kinds, w["segments"]).view(e, b, length, HIDDEN)
        x = f.dropout(self._norm(x, "eln"), drop)
        attend = mask.view(e * b, 1, 1, length)
        for n in range(LAYERS):
            qkv = self._linear(x, f"l{n}_qkv").view(e * b, length, 3, HEADS, -1)
            q, k, v = qkv.permute(2, 0, 3, 1, 4)
            mixed = f.scaled_dot_product_attention(q, k, v, attn_mask=attend)
            mixed = mixed.transpose(1, 2).reshape(e, b, length, HIDDEN)
            x = self._norm(x + f.dropout(self._linear(mixed, f"l{n}_ao"), drop), f"l{n}_aln")
            inner = self._linear(f.gelu(self._linear(x, f"l{n}_fi")), f"l{n}_fo")
            x = self._norm(x + f.dropout(inner, drop), f"l{n}_oln")
        weight = pooled[..., None].to(x.dtype)
        mean = (x * weight).sum(2) / weight.sum(2).clamp(min=1)
        texts = torch.baddbmm(w["text_head_b"][:, None], mean, w["text_head_w"].transpose(1, 2))
        return self._linear(x, "token_head").float(), texts.float()

    def _linear(self, x: Tensor, name: str) -> Tensor:
        e, b, length, _ = x.shape
        weight, bias = self.w[f"{name}_w"], self.w[f"{name}_b"]
        flat = torch.baddbmm(bias[:, None], x.view(e, b * length, -1), weight.transpose(1, 2))
        return flat.view(e, b, length, -1)

    def _norm(self, x: Tensor, name: str) -> Tensor:
        scaled = f.layer_norm(x, (HIDDEN,), eps=1e-12)
        return scaled * self.w[f"{name}_w"][:, None, None] + self.w[f"{name}_b"][:, None, None]


def state_of(reader: Members, member: int = 0) -> dict[str, Tensor]:
    """Return the weights of one member under the names of `training.model.Reader`."""
    return {
        _name_in_reader(name): value[member].detach().float().cpu()
        for name, value in reader.w.items()
    }


def begin_from(reader: Members, state: dict[str, Tensor]) -> None:
    """Copy the weights of a `training.model.Reader` to every member."""
    with torch.no_grad():
        for name, value in reader.w.items():
            value.copy_(state[_name_in_reader(name)])


def _name_in_reader(name: str) -> str:
    stem, _, kind = name.rpartition("_")
    if name in ("places", "segments"):
        return name
    if stem.startswith("l") and stem[1].isdigit():
        layer, part = stem.split("_")
        stem = f"layers.{layer[1:]}.{part}"
    return f"{stem}.{ {'w': 'weight', 'b': 'bias'}[kind] }"


def save(state: Any, path: Path) -> None:
    """Write a file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.new")
    torch.save(state, new)
    new.replace(path)


def save_in_parts(state: dict[str, Tensor], folder: Path, *, parts: int = 4) -> None:
    """Write the weights in 16 bits to the files `student-1.pt` and so on, to keep each small."""
    folder.mkdir(parents=True, exist_ok=True)
    names = sorted(state, key=lambda name: -state[name].numel())
    for part in range(parts):
        torch.save(
            {n: state[n].half() for n in names[part::parts]}, folder / f"student-{part + 1}.pt"
        )


def saved_in_parts(folder: Path) -> dict[str, Tensor]:
    """Return the weights that `save_in_parts` wrote."""
    found = {}
    for path in sorted(folder.glob("student-*.pt")):
        found |= torch.load(path, weights_only=True)
    return {name: value.float() for name, value in found.items()}
