# cython: boundscheck=False, wraparound=False
# mypy: ignore-errors
"""Kernel: the words that two texts share, and how near each word is to the other text's nearest.

Nothing but loops; see `deltableu.judges.word_space`.
"""

import cython


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _fill(
    vectors: cython.const[cython.float][:, ::1],
    word: cython.longlong,
    turned: cython.const[cython.float][:, :, ::1],
    blocks: cython.longlong,
    columns: cython.float[:, ::1],
    slot: cython.longlong,
) -> cython.int:
    """The products of a word's vector with those of eight positions at a time, in one order."""
    block: cython.longlong
    d: cython.longlong
    k: cython.longlong
    value: cython.float
    first: cython.float
    second: cython.float
    third: cython.float
    fourth: cython.float
    fifth: cython.float
    sixth: cython.float
    seventh: cython.float
    eighth: cython.float
    for block in range(blocks):
        first = second = third = fourth = fifth = sixth = seventh = eighth = 0.0
        for d in range(vectors.shape[1]):
            value = vectors[word, d]
            first += value * turned[block, d, 0]
            second += value * turned[block, d, 1]
            third += value * turned[block, d, 2]
            fourth += value * turned[block, d, 3]
            fifth += value * turned[block, d, 4]
            sixth += value * turned[block, d, 5]
            seventh += value * turned[block, d, 6]
            eighth += value * turned[block, d, 7]
        k = 8 * block
        columns[slot, k] = first
        columns[slot, k + 1] = second
        columns[slot, k + 2] = third
        columns[slot, k + 3] = fourth
        columns[slot, k + 4] = fifth
        columns[slot, k + 5] = sixth
        columns[slot, k + 6] = seventh
        columns[slot, k + 7] = eighth
    return 0


def compare_words(
    own_words: cython.const[cython.int][::1],
    own_bounds: cython.const[cython.longlong][::1],
    words: cython.const[cython.int][::1],
    bounds: cython.const[cython.longlong][::1],
    owners: cython.const[cython.longlong][::1],
    chosen: cython.const[cython.longlong][::1],
    rarity: cython.const[cython.double][::1],
    vectors: cython.const[cython.float][:, ::1],
    turned: cython.float[:, :, ::1],
    columns: cython.float[:, ::1],
    slots: cython.longlong[::1],
    stamps: cython.longlong[::1],
    nearest: cython.double[::1],
    taken: cython.longlong[::1],
    masses: cython.double[:, ::1],
) -> None:
    """Fill `masses` for the pairs of texts owners[j] and chosen[j].

    The rarity of words that both have, each as often as the text that has it less often; of the
    own text's words, each times its nearness to the nearest word of the other; and of the other's
    words likewise. The same word is as near as can be, and what points away is not near at all.

    `columns` keeps how near words are to all positions of the own text, `slots` and `stamps` say
    where and for which text; `turned`, `nearest` and `taken` are working space for the longest own
    text. The pairs of one own text should stand together.
    """
    pairs: cython.longlong = owners.shape[0]
    pair: cython.longlong
    owner: cython.longlong = -1
    start: cython.longlong = 0
    length: cython.longlong = 0
    first: cython.longlong
    last: cython.longlong
    blocks: cython.longlong = 0
    generation: cython.longlong = 0
    filled: cython.longlong = 0
    slot: cython.longlong
    word: cython.longlong
    i: cython.longlong
    j: cython.longlong
    d: cython.longlong
    best: cython.double
    value: cython.double
    with cython.nogil:
        for pair in range(pairs):
            if owners[pair] != owner:
                owner = owners[pair]
                start = own_bounds[owner]
                length = own_bounds[owner + 1] - start
                blocks = (length + 7) // 8
                for i in range(8 * blocks):
                    for d in range(vectors.shape[1]):
                        if i < length:
                            turned[i // 8, d, i % 8] = vectors[own_words[start + i], d]
                        else:
                            turned[i // 8, d, i % 8] = 0.0
                generation += 1
                filled = 0
            first = bounds[chosen[pair]]
            last = bounds[chosen[pair] + 1]
            masses[pair, 0] = 0.0
            masses[pair, 1] = 0.0
            masses[pair, 2] = 0.0
            for i in range(length):
                nearest[i] = 0.0
                taken[i] = 0
            for j in range(first, last):
                word = words[j]
                if stamps[word] != generation:
                    if filled == columns.shape[0]:
                        generation += 1
                        filled = 0
                    stamps[word] = generation
                    slots[word] = filled
                    _fill(vectors, word, turned, blocks, columns, filled)
                    for i in range(length):
                        if own_words[start + i] == word:
                            columns[filled, i] = 1.0
                    filled += 1
                slot = slots[word]
                best = 0.0
                for i in range(length):
                    value = columns[slot, i]
                    if value > best:
                        best = value
                    if value > nearest[i]:
                        nearest[i] = value
                if best > 1.0:
                    best = 1.0
                masses[pair, 2] += rarity[word] * best
                for i in range(length):
                    if taken[i] == 0 and own_words[start + i] == word:
                        taken[i] = 1
                        masses[pair, 0] += rarity[word]
                        break
            for i in range(length):
                value = nearest[i]
                if value > 1.0:
                    value = 1.0
                masses[pair, 1] += rarity[own_words[start + i]] * value
