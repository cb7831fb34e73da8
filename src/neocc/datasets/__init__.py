"""Small data sets that ship with the library.

Nothing is read, and neither NumPy nor scikit-learn is imported, before a loader is called.
"""

from neocc.datasets._case_study import load_case_study
from neocc.datasets._southern_women import load_southern_women

__all__ = ["load_case_study", "load_southern_women"]
