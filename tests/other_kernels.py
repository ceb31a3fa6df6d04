"""Kernels of linear algebra that round unlike those of this machine: ``python tests/other_kernels.py`` names them.

For OPENBLAS_CORETYPE, which the OpenBLAS that NumPy and SciPy bring along listens to; any that this processor can run.
"""

import platform

SMALLER = {
    "SapphireRapids": "Haswell",
    "Cooperlake": "Haswell",
    "SkylakeX": "Haswell",
    "Haswell": "Sandybridge",
    "Zen": "Sandybridge",
}


def other_kernels(native: str, machine: str) -> str:
    """The name of kernels for an older processor than the native ones; for the oldest where those are not known."""
    return SMALLER.get(native, "ARMV8" if machine in ("aarch64", "arm64") else "Prescott")


def main() -> None:
    import numpy.linalg  # noqa: F401 - brings the library
    from threadpoolctl import ThreadpoolController

    libraries = ThreadpoolController().select(user_api="blas").info()
    native = next((library["architecture"] for library in libraries if library.get("architecture")), "")
    print(other_kernels(native, platform.machine()))


if __name__ == "__main__":
    main()
