# cython: boundscheck=False, wraparound=False, infer_types=True, cdivision=True
# mypy: ignore-errors
"""Kernel of the items' heaps; see `deltableu.mine.heaps`."""

import cython


def offer(
    items: cython.const[cython.int][::1],
    scores: cython.const[cython.double][::1],
    positions: cython.const[cython.longlong][::1],
    keys: cython.const[cython.ulonglong][::1],
    heap_scores: cython.double[:, ::1],
    heap_positions: cython.longlong[:, ::1],
    heap_keys: cython.ulonglong[:, ::1],
    heap_sizes: cython.longlong[::1],
) -> None:
    """Put candidates into the heaps of their items.

    A heap is sorted by falling score, then by position. Of candidates with one key, which is two
    numbers, it has the best. One of the same position counts as the same candidate.
    """
    most: cython.longlong = heap_scores.shape[1]
    score: cython.double
    key: cython.ulonglong
    check: cython.ulonglong
    with cython.nogil:
        for i in range(items.shape[0]):
            item = items[i]
            score = scores[i]
            position = positions[i]
            key = keys[2 * i]
            check = keys[2 * i + 1]
            size = heap_sizes[item]
            if size == most and (
                score < heap_scores[item, most - 1]
                or (
                    score == heap_scores[item, most - 1]
                    and position >= heap_positions[item, most - 1]
                )
            ):
                continue
            gap = size
            for at in range(size):
                if heap_keys[item, 2 * at] == key and heap_keys[item, 2 * at + 1] == check:
                    gap = at
                    break
            if gap < size:
                if score < heap_scores[item, gap] or (
                    score == heap_scores[item, gap] and position >= heap_positions[item, gap]
                ):
                    continue
            elif size == most:
                gap = most - 1
            else:
                heap_sizes[item] = size + 1
            at = gap
            while at > 0 and (
                heap_scores[item, at - 1] < score
                or (heap_scores[item, at - 1] == score and heap_positions[item, at - 1] > position)
            ):
                heap_scores[item, at] = heap_scores[item, at - 1]
                heap_positions[item, at] = heap_positions[item, at - 1]
                heap_keys[item, 2 * at] = heap_keys[item, 2 * at - 2]
                heap_keys[item, 2 * at + 1] = heap_keys[item, 2 * at - 1]
                at -= 1
            heap_scores[item, at] = score
            heap_positions[item, at] = position
            heap_keys[item, 2 * at] = key
            heap_keys[item, 2 * at + 1] = check
