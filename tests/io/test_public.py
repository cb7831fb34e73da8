"""The public face of `neocc.io`."""

from __future__ import annotations

import pytest

import neocc.io
from neocc.io import as_command_line


def test_every_public_name_can_be_imported():
    for name in neocc.io.__all__:
        assert getattr(neocc.io, name) is not None
    assert dir(neocc.io) == sorted(neocc.io.__all__)
    with pytest.raises(AttributeError, match="no attribute 'read_matrices'"):
        neocc.io.read_matrices  # noqa: B018


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ('pass missing="zero" to', "pass --missing zero to"),
        ('pass duplicates="sum" or "mean".', 'pass --duplicates sum or "mean".'),
        ("pass header=False.", "pass --no-header."),
        ("replace it with force=True.", "replace it with --force."),
        ("leave it out with drop=[...].", "leave it out with --drop ...."),
        ('leave it out with drop=["c d"].', "leave it out with --drop 'c d'."),
        ("pass delimiter=';'.", "pass --delimiter ';'."),
        ('pass decimal=",".', 'pass --decimal ",".'),
        ('encoding="latin-1".', "--encoding latin-1."),
        ("pass row_names=False.", "pass --no-row-names."),
        ("line 3: 'a=b' is not a number.", "line 3: 'a=b' is not a number."),
    ],
)
def test_arguments_in_messages_become_options(python, shell):
    assert as_command_line(python) == shell


def test_the_tree_of_errors():
    errors = [getattr(neocc.io, name) for name in neocc.io.__all__ if name.endswith("Error")]
    assert all(issubclass(one, neocc.io.ReadError | neocc.io.WriteError) for one in errors)
    assert issubclass(neocc.io.ReadError, ValueError)
    assert issubclass(neocc.io.WriteError, OSError)
    assert issubclass(neocc.io.UnreadableFileError, OSError)
    assert issubclass(neocc.io.WouldOverwriteError, FileExistsError)
