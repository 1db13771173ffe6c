"""Compiles the kernels; where that is impossible the same files run as plain Python."""

import os
import sys
from pathlib import Path

from setuptools import Extension, setup

#: There are many kernels, and each takes seconds.
PROCESSES = os.cpu_count() or 1

SOURCES = Path("src")


def kernels() -> dict[str, str]:
    """Every module _NAME.py of a room whose first line speaks to Cython, and its file."""
    found = {}
    for path in sorted(SOURCES.rglob("_*.py")):
        with path.open(encoding="utf-8") as lines:
            if lines.readline().startswith("# cython:"):
                found[".".join(path.relative_to(SOURCES).with_suffix("").parts)] = path.as_posix()
    return found


#: What all kernels need of Cython, compiled once: two thirds of each of them otherwise.
SHARED = "deltableu._cyutility"

#: Loops are vectorised where their function stays one and roots set no error number; compilers
#: that do not know a flag ignore it.
COMPILE = ["-O3", "-g0", "-fno-inline-functions-called-once", "-fno-math-errno"]


def extensions() -> list[Extension]:
    try:
        from Cython.Build import cythonize
    except ImportError:
        return []
    modules = [
        Extension(name, [path], optional=True, extra_compile_args=COMPILE)
        for name, path in kernels().items()
    ]
    # Cython writes this file.
    shared = f"{SOURCES}/{SHARED.replace('.', '/')}.c"
    modules.append(Extension(SHARED, [shared], optional=True, extra_compile_args=["-O1", "-g0"]))
    compiled: list[Extension] = cythonize(
        modules,
        build_dir="build",
        shared_utility_qualified_name=SHARED,
        # Elsewhere new processes would run this file again.
        nthreads=PROCESSES if sys.platform == "linux" else 0,
        language_level=3,
        compiler_directives={"annotation_typing": True},
    )
    for module in compiled:
        module.optional = True  # cythonize makes new ones that forget it
    return compiled


setup(ext_modules=extensions(), options={"build_ext": {"parallel": PROCESSES}})
