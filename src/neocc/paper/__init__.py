"""The tables and figures of the NEO-CC paper, reproduced by one call.

`reproduce` runs all systems of the paper's comparison on its data sets, or stand-ins where those
are not available, and on others. It writes pages that put the printed values beside what was found,
the score of doing nothing beside both, and what could not be reproduced beside what could.
"""

from __future__ import annotations

from neocc.paper._reproduce import Outcome, reproduce

__all__ = ["Outcome", "reproduce"]
