"""Every bad file gives one readable error that names the file, the place and the remedy."""

from __future__ import annotations

import resource
import sys
from collections import Counter
from pathlib import Path

import pytest
from malformed import CASES, Case

from neocc.io import ReadError, load_model, read_matrix, read_record

READ = {"matrix": read_matrix, "model": load_model, "record": read_record}


def test_the_table_is_long_enough_and_names_no_case_twice():
    assert len(CASES) >= 40
    assert max(Counter(case.name for case in CASES).values()) == 1


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_bad_files_are_refused_with_a_readable_message(case: Case, tmp_path):
    path = case.write(tmp_path)
    with case.around(), pytest.raises(ReadError) as caught:
        READ[case.kind](path, **case.options)
    message = str(caught.value)
    assert str(path) in message
    for words in case.says:
        assert words in message
    if case.line is not None:
        assert caught.value.line == case.line
        assert f"line {case.line}" in message
    # One paragraph: what was found, and what to do, each a sentence.
    assert "\n" not in message.replace(str(path), "")
    assert message.rstrip()[-1] in ".?"
    assert len(caught.value.problem) > 10
    assert len(caught.value.remedy) > 5


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS is kept on Linux only")
@pytest.mark.parametrize(
    "case",
    [
        case
        for case in CASES
        if any(word in case.name for word in ("huge", "bomb", "model, columns"))
    ],
    ids=lambda case: case.name,
)
def test_no_memory_is_taken_for_what_is_only_declared(case: Case, tmp_path):
    path = case.write(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    used = 1024 * int(Path("/proc/self/status").read_text().split("VmSize:")[1].split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (used + (256 << 20), limits[1]))
    try:
        with pytest.raises(ReadError) as caught:
            READ[case.kind](path, **case.options)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    # It must not be the limit that stopped it.
    assert "fit into memory" not in str(caught.value)
