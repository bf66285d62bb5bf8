"""The encoder with its heads, in PyTorch. The word embeddings are not trained.

A message is encoded as `<s> query: message </s></s> assistant </s></s> earlier … </s>`; learned
segment vectors distinguish the parts. The architecture is post-norm BERT with GELU (Devlin et al.,
2019), initialised with the weights of multilingual-e5-small (Wang et al., 2024).
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as f

from memories.reader.statements import TEXT_OUTPUTS, TOKEN_OUTPUTS
from training.base import FEED_FORWARD, HEADS, HIDDEN, LAYERS, Base

SEGMENTS = 3  # message (or first text of a pair), assistant's message, earlier messages


class Layer(nn.Module):
    """One transformer layer, normalised after each residual."""

    def __init__(self, drop: float) -> None:
        super().__init__()
        self.qkv, self.ao = nn.Linear(HIDDEN, 3 * HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.fi, self.fo = nn.Linear(HIDDEN, FEED_FORWARD), nn.Linear(FEED_FORWARD, HIDDEN)
        self.aln, self.oln = nn.LayerNorm(HIDDEN, 1e-12), nn.LayerNorm(HIDDEN, 1e-12)
        self.drop = nn.Dropout(drop)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        batch, length, _ = x.shape
        q, k, v = (
            part.view(batch, length, HEADS, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, -1)
        )
        mixed = f.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
        mixed = self.ao(mixed.transpose(1, 2).reshape(batch, length, HIDDEN))
        x = self.aln(x + self.drop(mixed))
        return self.oln(x + self.drop(self.fo(f.gelu(self.fi(x)))))


class Reader(nn.Module):
    """The weights of one reader; `training.members.Members` computes with them."""

    def __init__(self, base: Base, *, drop: float = 0.1) -> None:
        super().__init__()
        tensors = base.tensors
        self.words = nn.Embedding.from_pretrained(torch.from_numpy(tensors["emb.word"]))
        self.places = nn.Parameter(torch.from_numpy(tensors["emb.pos"] + tensors["emb.type"][0]))
        self.segments = nn.Parameter(torch.zeros(SEGMENTS, HIDDEN))
        self.eln = nn.LayerNorm(HIDDEN, 1e-12)
        self.layers = nn.ModuleList(Layer(drop) for _ in range(LAYERS))
        self.token_head = nn.Linear(HIDDEN, TOKEN_OUTPUTS)
        self.text_head = nn.Linear(HIDDEN, TEXT_OUTPUTS)
        self._copy(base)

    def _copy(self, base: Base) -> None:
        t = {name: torch.from_numpy(value) for name, value in base.tensors.items()}
        with torch.no_grad():
            self.eln.weight.copy_(t["emb.ln.w"])
            self.eln.bias.copy_(t["emb.ln.b"])
            for number, layer in enumerate(self.layers):
                for name in ("ao", "fi", "fo", "aln", "oln"):
                    part = getattr(layer, name)
                    part.weight.copy_(t[f"l{number}.{name}.w"])
                    part.bias.copy_(t[f"l{number}.{name}.b"])
                layer.qkv.weight.copy_(torch.cat([t[f"l{number}.{s}.w"] for s in "qkv"]))
                layer.qkv.bias.copy_(torch.cat([t[f"l{number}.{s}.b"] for s in "qkv"]))
            for head in (self.token_head, self.text_head):
                head.weight.normal_(0, 0.02)
                head.bias.zero_()
