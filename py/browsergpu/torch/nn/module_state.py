"""``state_dict`` and ``load_state_dict`` by the methods that PyTorch's modules may redefine."""

from __future__ import annotations

from collections import OrderedDict
from contextvars import ContextVar
from typing import Any, ClassVar, NamedTuple

from browsergpu.arrays.handles import Handle, added
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.networks import module, states
from browsergpu.torch.tensors.tensor import as_tensors

_EXTRA = "_extra_state"

#: The call of ``load_state_dict`` that is under way.
_loading: ContextVar[states.Loading | None] = ContextVar("loading", default=None)


class IncompatibleKeys(NamedTuple):
    """The names that do not match in ``load_state_dict``."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self[0]}, unexpected_keys={self[1]})"


class StatefulModule(module.Module):
    """A module with the methods of ``torch.nn.Module`` for its state."""

    #: The version of the state, which old files may lack.
    _version: ClassVar[int] = 1

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Return all parameters and persistent buffers by name."""
        if args:  # by position, as before PyTorch 2.0
            destination, prefix, keep_vars = (*args, destination, prefix, keep_vars)[:3]
        found: Any = OrderedDict() if destination is None else destination
        if not hasattr(found, "_metadata") and isinstance(found, OrderedDict):
            found._metadata = OrderedDict()  # type: ignore[attr-defined]
        about: Any = {"version": self._version}
        if hasattr(found, "_metadata"):
            found._metadata[prefix[:-1]] = about
        for hook in self._hooks("before_state"):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(found, prefix, keep_vars)
        for name, inner in self._modules.items():
            of = f"{prefix}{name}."
            if isinstance(inner, StatefulModule):
                inner.state_dict(destination=found, prefix=of, keep_vars=keep_vars)
            elif inner is not None:
                found.update(as_tensors(inner.state_dict(of)))
        for hook in self._hooks("after_state"):
            changed = hook(self, found, prefix, about)
            found = found if changed is None else changed
        return found

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Add the module's own state, without that of its submodules."""
        for name, x in self._own_state():
            destination[prefix + name] = as_tensors(x if keep_vars else x.detach())
        if hasattr(type(self), "get_extra_state"):
            destination[prefix + _EXTRA] = self.get_extra_state()

    def _own_state(self) -> list[tuple[str, Any]]:
        left_out = self._non_persistent_buffers_set
        buffers = [(name, x) for name, x in self._buffers.items() if name not in left_out]
        own = (*self._parameters.items(), *buffers)
        return [(name, x) for name, x in own if x is not None]

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> Any:
        """Set the values of parameters and buffers from tensors, all or none."""
        if assign:
            raise InvalidArgument("load_state_dict", "assign", assign, "False")
        loading = states.Loading(state_dict)
        given = OrderedDict(state_dict)
        token = _loading.set(loading)
        try:
            self._load(given, "", getattr(state_dict, "_metadata", {}), loading)
        finally:
            _loading.reset(token)
        found = IncompatibleKeys(*loading.end(type(self).__name__, bool(strict)))
        for one in self.modules():
            if isinstance(one, StatefulModule):
                for hook in one._hooks("after_load"):
                    hook(one, found)
        return found

    def _load(self, given: Any, prefix: str, metadata: Any, loading: states.Loading) -> None:
        about = metadata.get(prefix[:-1], {})
        self._load_from_state_dict(
            given, prefix, about, True, loading.missing, loading.unexpected, loading.wrong
        )
        for name, inner in self._modules.items():
            of = f"{prefix}{name}."
            own = {key: x for key, x in given.items() if key.startswith(of)}
            if isinstance(inner, StatefulModule):
                inner._load(own, of, metadata, loading)
            elif inner is not None:
                loading.add_all(dict(states.named(inner, of)), own)

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool,
        missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        """Set the module's own state, without that of its submodules."""
        lists = missing_keys, unexpected_keys, error_msgs
        for hook in self._hooks("before_load"):
            hook(self, state_dict, prefix, local_metadata, strict, *lists)
        for hook in self._hooks("before_own_load"):
            hook(state_dict, prefix, local_metadata, strict, *lists)
        loading = _loading.get() or states.Loading(state_dict)
        own = dict(self._own_state())
        for name, x in own.items():
            if prefix + name in state_dict:
                loading.add(prefix + name, x, state_dict[prefix + name])
            elif strict:
                missing_keys.append(prefix + name)
        has_extra = hasattr(type(self), "set_extra_state")
        if has_extra and prefix + _EXTRA in state_dict:
            self.set_extra_state(state_dict[prefix + _EXTRA])
        elif has_extra and strict:
            missing_keys.append(prefix + _EXTRA)
        if strict:
            for key in state_dict:
                first, _, rest = key[len(prefix) :].partition(".")
                is_known = first in (self._modules if rest else own)
                is_known = is_known or (has_extra and key == prefix + _EXTRA)
                if key.startswith(prefix) and not is_known:
                    unexpected_keys.append(key)
        if _loading.get() is None:  # called by itself
            error_msgs += loading.wrong
            loading.wrong = []
            loading.end(type(self).__name__, False)

    def _hooks(self, name: str) -> list[Any]:
        return list(self.__dict__.get(f"_{name}_hooks", {}).values())

    def _add_hook(self, name: str, hook: Any) -> Handle:
        return added(self.__dict__.setdefault(f"_{name}_hooks", {}), hook)

    def register_state_dict_pre_hook(self, hook: Any) -> Handle:
        """Call ``hook(module, prefix, keep_vars)`` before the state is taken."""
        return self._add_hook("before_state", hook)

    def register_state_dict_post_hook(self, hook: Any) -> Handle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` after the state is taken."""
        return self._add_hook("after_state", hook)

    _register_state_dict_hook = register_state_dict_post_hook

    def register_load_state_dict_pre_hook(self, hook: Any) -> Handle:
        """Call ``hook(module, state_dict, prefix, …)`` before a state is loaded."""
        return self._add_hook("before_load", hook)

    def _register_load_state_dict_pre_hook(self, hook: Any, with_module: bool = False) -> Handle:
        return self._add_hook("before_load" if with_module else "before_own_load", hook)

    def register_load_state_dict_post_hook(self, hook: Any) -> Handle:
        """Call ``hook(module, incompatible_keys)`` after a state is loaded."""
        return self._add_hook("after_load", hook)
