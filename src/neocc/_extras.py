"""Optional packages: imported where they are used, with an error that names the extra."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["need"]

_ARROW = "Delimited text, Matrix Market, ARFF, Excel and Parquet files need pyarrow"
_COMMAND = "The neocc command needs typer and rich"
# What is missing without a package, and the extra that brings it.
_EXTRAS = {
    "distributed": ('engine="dask" needs dask and distributed', "dask"),
    "h5py": (".h5ad files need h5py", "io"),
    "matplotlib": ("neocc.plot needs matplotlib", "plot"),
    "openpyxl": ("Excel workbooks need openpyxl", "excel"),
    "pooch": ("Downloads need pooch", "data"),
    "pyarrow": (_ARROW, "io"),
    "rich": (_COMMAND, "cli"),
    "typer": (_COMMAND, "cli"),
}


def need(module: str, otherwise: str = "") -> Any:
    """Import a module of an optional package, or say which extra brings it.

    By name, so that neocc type-checks without the package.

    Examples
    --------
    >>> from neocc._extras import need
    >>> need("pyarrow.csv").__name__
    'pyarrow.csv'
    """
    try:
        return import_module(module)
    except ImportError as error:
        what, extra = _EXTRAS[module.split(".", maxsplit=1)[0]]
        remedy = f'pip install "neocc[{extra}]"' + (f". {otherwise}" if otherwise else "")
        raise ImportError(f"{what}: {remedy}") from error
