"""Numbers of words in, the last hidden states of both directions of a Bi-GRU (Cho et al. 2014) out.

torch's own GRU spends most of a training step copying gradients, one time step after the other.
This one multiplies gradients of weights once for all steps, projects each distinct word of a batch
once, and runs both directions side by side. Parameters are named and laid out as torch has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from deltableu._types import Ints
from deltableu.neural.encoded_texts import EncodedTexts

#: Input and recurrent weights and biases of the forward direction, then of the backward one.
Weights: TypeAlias = Sequence[Tensor]


@dataclass(frozen=True, slots=True, eq=False)
class TimeSteps:
    """Texts by falling length, cut into time steps: step t has word t of all that are so long.

    Attributes
    ----------
    texts : int
        Those without a word are in no step, and the last ones.
    sizes : list of int
        How many texts each step has.
    words : Tensor
        The distinct words.
    places : Tensor of two rows
        The place in `words` of each word of each step; the second row reads texts from their end.
    ends : Tensor
        Where the last word of each text is among all.
    previous : Tensor
        Where the word before is, for all words that are not the first of a text.
    """

    texts: int
    sizes: list[int]
    words: Tensor
    places: Tensor
    ends: Tensor
    previous: Tensor

    def sum_by_word(self, way: int, values: Tensor) -> Tensor:
        """Sum the rows of each distinct word."""
        places = self.places[way].numpy()
        order = np.argsort(places, kind="stable")
        bounds = np.searchsorted(places[order], np.arange(len(self.words) + 1))
        shape = (len(self.words), len(places))
        dense = values.numpy()
        ones = np.ones(len(places), dense.dtype)
        # torch's own sums by index take twice as long.
        return torch.from_numpy(sparse.csr_array((ones, order, bounds), shape=shape) @ dense)


def time_steps(texts: EncodedTexts, chosen: Ints, max_length: int) -> tuple[TimeSteps, Ints]:
    """Cut some texts into steps; also returns the order of the texts in them."""
    starts = texts.bounds[chosen]
    lengths = np.minimum(texts.bounds[chosen + 1] - starts, max_length)
    order = np.argsort(-lengths, kind="stable")
    starts, lengths = starts[order], lengths[order]
    longest = int(lengths.max(initial=0))
    sizes = np.searchsorted(-lengths, -np.arange(1, longest + 1), side="right")
    begins = np.cumsum(sizes) - sizes
    step = np.repeat(np.arange(longest), sizes)
    text = np.arange(len(step)) - np.repeat(begins, sizes)
    forward = texts.numbers[starts[text] + step]
    backward = texts.numbers[starts[text] + lengths[text] - 1 - step]
    words, places = np.unique(forward, return_inverse=True)
    later = slice(int(sizes[0]) if longest else 0, None)
    some = np.flatnonzero(lengths)
    return (
        TimeSteps(
            len(chosen),
            sizes.tolist(),
            torch.from_numpy(words.astype(np.int64)),
            torch.from_numpy(np.stack((places.reshape(-1), np.searchsorted(words, backward)))),
            torch.from_numpy(begins[lengths[some] - 1] + some),
            torch.from_numpy(begins[step[later] - 1] + text[later]),
        ),
        order,
    )


class Scratch:
    """Memory that is used again by every batch: asking for it anew takes a quarter of the time.

    Gradients must be taken before the next batch is encoded with the same scratch; torch raises a
    RuntimeError where they are not.
    """

    def __init__(self) -> None:
        self._buffers: dict[str, Tensor] = {}

    def of(self, name: str, like: Tensor, *shape: int) -> Tensor:
        """A tensor with arbitrary content."""
        size = prod(shape)
        found = self._buffers.get(name)
        if found is None or found.numel() < size or found.dtype != like.dtype:
            found = self._buffers[name] = like.new_empty(size + size // 8)
        return found[:size].view(shape)


def encode_texts(embedding: Tensor, weights: Weights, steps: TimeSteps, scratch: Scratch) -> Tensor:
    """The last hidden state of each text, forward and backward beside each other."""
    return _BiGRU.apply(embedding, *weights, steps, scratch)  # type: ignore[no-any-return, no-untyped-call]


class _BiGRU(torch.autograd.Function):
    """r, z = sigmoid(x W + h U); n = tanh(x W + r (h U)); h' = n + z (h - n).

    Tensors of gates have an axis for the direction, then one for the words of all steps. In one
    for slopes, those of h U in n come first, then those of r, z and x W in n: the first three
    belong to the recurrent weights, the last three to the input weights.
    """

    @staticmethod
    def forward(ctx: Any, embedding: Tensor, *rest: Any) -> Tensor:
        steps: TimeSteps = rest[8]
        scratch: Scratch = rest[9]
        inputs, recurrent, input_bias, bias = (
            torch.stack((rest[place], rest[place + 4])) for place in range(4)
        )
        hidden = recurrent.shape[2]
        count = steps.places.shape[1]
        vectors = embedding[steps.words]
        projected = torch.baddbmm(
            input_bias.unsqueeze(1), vectors.expand(2, -1, -1), inputs.transpose(1, 2)
        )
        across = recurrent.transpose(1, 2)
        added = bias.unsqueeze(1)
        gates = scratch.of("gates", vectors, 2, count, 3 * hidden)
        moved = scratch.of("moved", vectors, 2, count, 3 * hidden)
        states = scratch.of("states", vectors, 2, count, hidden)
        old = vectors.new_zeros(2, steps.texts, hidden)
        start = 0
        for size in steps.sizes:
            here = slice(start, start + size)
            old = old[:, :size]
            for way in (0, 1):
                torch.index_select(projected[way], 0, steps.places[way, here], out=gates[way, here])
            own = torch.baddbmm(added, old, across, out=moved[:, here])
            both = gates[:, here, : 2 * hidden]
            both.add_(own[..., : 2 * hidden]).sigmoid_()
            new = gates[:, here, 2 * hidden :]
            new.addcmul_(both[..., :hidden], own[..., 2 * hidden :]).tanh_()
            old = torch.lerp(new, old, both[..., hidden:], out=states[:, here])
            start += size
        if any(ctx.needs_input_grad):
            ctx.steps, ctx.scratch, ctx.shape = steps, scratch, embedding.shape
            ctx.save_for_backward(vectors, inputs, recurrent, gates, moved, states)
        return _last(states, steps)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        vectors, inputs, recurrent, gates, moved, states = ctx.saved_tensors
        steps: TimeSteps = ctx.steps
        hidden = recurrent.shape[2]
        # The order of slopes: of h U in n, of r, of z.
        turned = torch.cat((recurrent[:, 2 * hidden :], recurrent[:, : 2 * hidden]), 1)
        slopes = ctx.scratch.of("slopes", vectors, 2, states.shape[1], 4 * hidden)
        slope = gradients[0].reshape(-1, 2, hidden).transpose(0, 1).contiguous()
        scratch = torch.empty_like(slope)
        nothing = torch.zeros_like(slope)
        end = states.shape[1]
        for number, size in reversed(list(enumerate(steps.sizes))):
            here = slice(end - size, end)
            reset, update, new = gates[:, here].split(hidden, 2)
            at_own, at_reset, at_update, at_new = slopes[:, here].split(hidden, 2)
            before = end - size - steps.sizes[number - 1]
            old = states[:, before : before + size] if number else nothing[:, :size]
            now, spare = slope[:, :size], scratch[:, :size]
            torch.addcmul(update, update, update, value=-1, out=at_update)
            at_update.mul_(torch.sub(old, new, out=spare)).mul_(now)
            torch.mul(now, update, out=spare)
            now.sub_(spare)
            torch.ops.aten.tanh_backward.grad_input(now, new, grad_input=at_new)
            torch.addcmul(reset, reset, reset, value=-1, out=at_reset)
            at_reset.mul_(at_new).mul_(moved[:, here, 2 * hidden :])
            torch.mul(at_new, reset, out=at_own)
            torch.baddbmm(spare, slopes[:, here, : 3 * hidden], turned, out=now)
            end -= size
        first = steps.sizes[0] if steps.sizes else 0
        outer = torch.bmm(
            slopes[:, first:, : 3 * hidden].transpose(1, 2), states.index_select(1, steps.previous)
        )
        total = slopes.sum(1)
        own, reset_update = outer[:, :hidden], outer[:, hidden:]
        recurrent_slope = torch.cat((reset_update, own), 1)
        bias_slope = torch.cat((total[:, hidden : 3 * hidden], total[:, :hidden]), 1)
        by_word = torch.stack([steps.sum_by_word(way, slopes[way, :, hidden:]) for way in (0, 1)])
        input_slope = torch.matmul(by_word.transpose(1, 2), vectors)
        embedding_slope = vectors.new_zeros(ctx.shape)
        embedding_slope[steps.words] = torch.bmm(by_word, inputs).sum(0)
        ways = [
            (input_slope[way], recurrent_slope[way], total[way, hidden:], bias_slope[way])
            for way in (0, 1)
        ]
        return (embedding_slope, *ways[0], *ways[1], None, None)


def _last(states: Tensor, steps: TimeSteps) -> Tensor:
    """The state of each text at its last word; zeros for a text without one."""
    found = states.new_zeros(steps.texts, 2, states.shape[2])
    found[: len(steps.ends)] = states[:, steps.ends].transpose(0, 1)
    return found.reshape(steps.texts, 2 * states.shape[2])
