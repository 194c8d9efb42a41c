"""A small GPT that calls PyTorch as nanoGPT's ``model.py`` does, for the test of its notebook."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn as nn
from torch.nn import functional as F


class Norm(nn.Module):
    def __init__(self, size: int, bias: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.bias = nn.Parameter(torch.zeros(size)) if bias else None

    def forward(self, x: Any) -> Any:
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, 1e-5)


class Attention(nn.Module):
    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.three = nn.Linear(config.n_embd, 3 * config.n_embd, bias=config.bias)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd, bias=config.bias)
        self.resid_dropout = nn.Dropout(config.dropout)
        self.heads, self.width, self.chance = config.n_head, config.n_embd, config.dropout

    def forward(self, x: Any) -> Any:
        n, length, width = x.size()
        parts = self.three(x).split(self.width, dim=2)
        q, k, v = (
            part.view(n, length, self.heads, width // self.heads).transpose(1, 2) for part in parts
        )
        chance = self.chance if self.training else 0
        y = F.scaled_dot_product_attention(
            q, k, v, attn_mask=None, dropout_p=chance, is_causal=True
        )
        y = y.transpose(1, 2).contiguous().view(n, length, width)
        return self.resid_dropout(self.c_proj(y))


class Block(nn.Module):
    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.ln_1, self.ln_2 = Norm(config.n_embd, config.bias), Norm(config.n_embd, config.bias)
        self.attn = Attention(config)
        self.c_fc = nn.Linear(config.n_embd, 4 * config.n_embd, bias=config.bias)
        self.gelu = nn.GELU()
        self.c_proj = nn.Linear(4 * config.n_embd, config.n_embd, bias=config.bias)

    def forward(self, x: Any) -> Any:
        x = x + self.attn(self.ln_1(x))
        return x + self.c_proj(self.gelu(self.c_fc(self.ln_2(x))))


@dataclass
class GPTConfig:
    block_size: int = 1024
    vocab_size: int = 50304
    n_layer: int = 12
    n_head: int = 12
    n_embd: int = 768
    dropout: float = 0.0
    bias: bool = True


class GPT(nn.Module):
    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.config = config
        self.transformer = nn.ModuleDict({
            "wte": nn.Embedding(config.vocab_size, config.n_embd),
            "wpe": nn.Embedding(config.block_size, config.n_embd),
            "drop": nn.Dropout(config.dropout),
            "h": nn.ModuleList([Block(config) for _ in range(config.n_layer)]),
            "ln_f": Norm(config.n_embd, bias=config.bias),
        })  # fmt: skip
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.transformer.wte.weight = self.lm_head.weight
        self.apply(self._begin)
        for name, one in self.named_parameters():
            if name.endswith("c_proj.weight"):
                nn.init.normal_(one, mean=0.0, std=0.02 / math.sqrt(2 * config.n_layer))

    def _begin(self, module: Any) -> None:
        if isinstance(module, nn.Linear | nn.Embedding):
            torch.nn.init.normal_(module.weight, mean=0.0, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            torch.nn.init.zeros_(module.bias)

    def get_num_params(self) -> int:
        return sum(one.numel() for one in self.parameters())

    def forward(self, idx: Any, targets: Any = None) -> Any:
        length = idx.size(1)
        assert length <= self.config.block_size
        places = torch.arange(0, length, dtype=torch.long, device=idx.device)
        x = self.transformer.drop(self.transformer.wte(idx) + self.transformer.wpe(places))
        for block in self.transformer.h:
            x = block(x)
        x = self.transformer.ln_f(x)
        if targets is None:
            return self.lm_head(x[:, [-1], :]), None
        logits = self.lm_head(x)
        flat = logits.view(-1, logits.size(-1))
        return logits, F.cross_entropy(flat, targets.view(-1), ignore_index=-1)

    def configure_optimizers(
        self, weight_decay: float, learning_rate: float, betas: Any, device_type: str
    ) -> Any:
        params = [p for _, p in self.named_parameters() if p.requires_grad]
        groups = [
            {"params": [p for p in params if p.dim() >= 2], "weight_decay": weight_decay},
            {"params": [p for p in params if p.dim() < 2], "weight_decay": 0.0},
        ]
        is_fused = "fused" in inspect.signature(torch.optim.AdamW).parameters
        options = {"fused": True} if is_fused and device_type == "cuda" else {}
        return torch.optim.AdamW(groups, lr=learning_rate, betas=betas, **options)

    @torch.no_grad()
    def generate(
        self, idx: Any, max_new_tokens: int, temperature: float = 1.0, top_k: Any = None
    ) -> Any:
        for _ in range(max_new_tokens):
            seen = (
                idx if idx.size(1) <= self.config.block_size else idx[:, -self.config.block_size :]
            )
            logits = self(seen)[0][:, -1, :] / temperature
            if top_k is not None:
                best, _ = torch.topk(logits, min(top_k, logits.size(-1)))
                logits[logits < best[:, [-1]]] = -float("Inf")
            drawn = torch.multinomial(F.softmax(logits, dim=-1), num_samples=1)
            idx = torch.cat((idx, drawn), dim=1)
        return idx
