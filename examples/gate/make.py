"""Writes references.txt and outputs of this example: python make.py."""

from __future__ import annotations

from pathlib import Path

PLACES = ("the station", "the old town", "the river", "the museum", "the harbour", "the market")
WAYS = ("take bus", "follow road", "take tram")


def main() -> None:
    here = Path(__file__).parent
    texts = [f"{way} {n} to {place}" for n in range(1, 5) for place in PLACES for way in WAYS]
    old = [text.replace("to the", "to a") if n % 3 == 0 else text for n, text in enumerate(texts)]
    new = [text.replace("to the", "to a") if n % 3 == 1 else text for n, text in enumerate(texts)]
    (here / "outputs").mkdir(exist_ok=True)
    for name, lines in (("references", texts), ("outputs/v1", old), ("outputs/v2", new)):
        (here / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
