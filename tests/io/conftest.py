"""`malformed` and `files` live beside this file; importlib mode does not put them on the path."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
