"""Settings of ``torch.backends``. Those of CUDA are accepted and have no effect."""

from __future__ import annotations

from typing import Any


class _Settings:
    """Settings without effect, as they choose among CUDA's implementations."""

    def __init__(self, **settings: Any) -> None:
        self.__dict__.update(settings)

    def is_available(self) -> bool:
        """Return False."""
        return False

    is_built = is_available


cudnn = _Settings(
    benchmark=False, deterministic=False, enabled=False, allow_tf32=False,
)  # fmt: skip
cuda = _Settings(matmul=_Settings(allow_tf32=False), cufft_plan_cache=_Settings())
mps = _Settings()
mkl = _Settings()
