"""Files of other programs, named as what they are by their first bytes."""

from __future__ import annotations

import re
import struct
import zipfile
from contextlib import suppress

from neocc.io._errors import FormatError
from neocc.io._source import Source

__all__ = ["EXCEL", "refuse_foreign", "zip_kind"]

_CSV = "Save it as CSV there, or as .xlsx."
_R = 'In R, write.csv(x, "file.csv") writes what is read here.'
_PANDAS = "With pandas, .to_csv or .to_parquet writes what is read here."

# First bytes, what begins with them, and what to do about it.
_KINDS: tuple[tuple[bytes, str, str], ...] = (
    (
        rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "an old Excel workbook (.xls), or one with a password",
        _CSV,
    ),
    (rb"RD[XAB][23]\n", "a workspace of R (.RData)", _R),
    (rb"X\n\0\0\0[\x02\x03]\0|A\n[23]\n\d{5,7}\n", "an object of R (.rds)", _R),
    (rb"ARROW1|FEA1", "an Arrow or Feather file", "With pyarrow or pandas, write it as Parquet."),
    (rb"\x80[\x02-\x05][\x95}\]c(K\x8a]", "a pickle of Python, which could run code", _PANDAS),
    (
        rb"MATLAB 5\.0 MAT-file",
        "a MATLAB file",
        'In MATLAB, writematrix(X, "file.csv") writes CSV.',
    ),
    (rb"<stata_dta>", "a Stata file", _PANDAS),
    (rb"\$FL[23]", "an SPSS file", _PANDAS),
    (rb"SQLite format 3\0", "an SQLite database", "Export the table as CSV."),
    (rb"%PDF-", "a PDF document", "Find the data behind it."),
    (
        rb"\s*<(?i:!doctype html|html|head|body|table|div|meta|script)\b",
        "a web page",
        "Was a login or a link saved?",
    ),
    (rb"\s*<\?xml", "an XML document", "Export the table as CSV."),
    (rb"\s*(\{\s*[\"}]|\[\s*[\[{])", "JSON", _PANDAS),
    (
        rb"#1\.[23]\r?\n\d+\t\d+",
        "a GCT file",
        "Delete its first two lines, and pass drop='Description'.",
    ),
    (rb"(?s:.{257})ustar", "a tar archive", "Unpack it, and name a file in it."),
    (
        rb"(?:![^\n]*\n|\r?\n)*!(Series|Sample|Platform|Database)_",
        "a file of the Gene Expression Omnibus (GEO)",
        "Delete all lines that begin with '!' (grep -v '^!' file), and blank ones.",
    ),
    (
        rb"##fileformat=VCF",
        "a file of variants (VCF)",
        "Write genotypes as a table of numbers first, a row per variant.",
    ),
    (
        rb"[+-]?\d+(\.\d+)?([ \t]+\d+:[+-]?[\d.]+([eE][+-]?\d+)?){1,}[ \t]*(#[^\n]*)?\r?\n",
        "a file of SVMlight or LIBSVM (label index:value ...)",
        "sklearn.datasets.load_svmlight_file reads it; neocc.io.write_matrix writes the result.",
    ),
)
EXCEL = "an Excel workbook (.xlsx)"
# What a damaged archive can make zipfile raise.
_DAMAGE = (zipfile.BadZipFile, struct.error, EOFError, NotImplementedError, OSError, ValueError)
_ZIPS = {
    "xl/": EXCEL,
    "word/": "a Word document",
    "ppt/": "a PowerPoint document",
    "content.xml": "an OpenDocument file (.ods)",
    "Index/": "an Apple Numbers file",
}


def refuse_foreign(source: Source) -> None:
    """Refuse a file that another program wrote in a form that is not read here."""
    for pattern, kind, remedy in _KINDS:
        if re.match(pattern, source.head):
            raise FormatError(source.path, f"This is {kind}.", remedy)


def zip_kind(source: Source) -> str:
    """Return what a zip archive is, by the names of its members; "" for arrays and damaged ones."""
    with suppress(*_DAMAGE), zipfile.ZipFile(source.path) as file:
        names = file.namelist()
        if any(name.endswith(".npy") for name in names):
            return ""
        for start, kind in _ZIPS.items():
            if any(name.startswith(start) for name in names):
                return kind
        return f"a zip archive of {', '.join(names[:3])}{', ...' if len(names) > 3 else ''}"
    return ""
