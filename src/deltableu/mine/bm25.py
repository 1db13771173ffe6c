"""BM25 of logged pairs and items, on utterance, response or both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from deltableu import _kernels
from deltableu._types import Array, Bytes, Ints, Ints32, Singles
from deltableu.errors import InputError, check_choice
from deltableu.mine.rows import LogRows, Queries
from deltableu.mine.similarity import Candidates
from deltableu.text import TokenArrays, WordNumbers

