"""Compiles the kernels; where that is impossible the same files run as plain Python."""

import os
import sys

from setuptools import Extension, setup

#: There are many kernels, and each takes seconds.
PROCESSES = os.cpu_count() or 1

KERNELS = {
    "deltableu.text._tokens": "src/deltableu/text/_tokens.py",
    "deltableu.text._words": "src/deltableu/text/_words.py",
    "deltableu.text._vectors": "src/deltableu/text/_vectors.py",
    "deltableu.score._ngrams": "src/deltableu/score/_ngrams.py",
    "deltableu.score._overlap": "src/deltableu/score/_overlap.py",
    "deltableu.stats._resampling": "src/deltableu/stats/_resampling.py",
    "deltableu.validate._ranks": "src/deltableu/validate/_ranks.py",
    "deltableu.mine._join": "src/deltableu/mine/_join.py",
    "deltableu.mine._embed": "src/deltableu/mine/_embed.py",
    "deltableu.logs._rows": "src/deltableu/logs/_rows.py",
    "deltableu.logs._objects": "src/deltableu/logs/_objects.py",
    "deltableu.vectors._pairs": "src/deltableu/vectors/_pairs.py",
    "deltableu.vectors._glove": "src/deltableu/vectors/_glove.py",
}


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
        for name, path in KERNELS.items()
    ]
    compiled: list[Extension] = cythonize(
        modules,
        build_dir="build",
        # Elsewhere new processes would run this file again.
        nthreads=PROCESSES if sys.platform == "linux" else 0,
        language_level=3,
        compiler_directives={"annotation_typing": True},
    )
    for module in compiled:
        module.optional = True  # cythonize makes new ones that forget it
    return compiled


setup(ext_modules=extensions(), options={"build_ext": {"parallel": PROCESSES}})
