"""Lists of two columns, such as baskets, are binary; three columns need not be a list."""

from __future__ import annotations

import numpy as np
import pytest

from neocc.io import ReadError, open_store, read_matrix, write_store

BASKET = "user,item\nann,milk\nann,bread\nbob,milk\nbob,milk\neve,tea\n"


def read(tmp_path, content: str, name: str = "m.csv", **options):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return read_matrix(path, **options)


def test_a_basket_is_binary(tmp_path):
    matrix = read(tmp_path, BASKET)
    assert matrix.row_names == ("ann", "bob", "eve")
    assert matrix.column_names == ("bread", "milk", "tea")
    np.testing.assert_array_equal(matrix.data.toarray(), [[1, 1, 0], [0, 1, 0], [0, 0, 1]])
    assert any("pairs" in note and 'layout="table"' in note for note in matrix.notes)
    assert any("count once" in note for note in matrix.notes)


def test_duplicates_as_asked(tmp_path):
    assert read(tmp_path, BASKET, duplicates="sum").data.max() == 2
    assert read(tmp_path, BASKET, duplicates="mean").data.max() == 1
    with pytest.raises(ReadError, match="twice"):
        read(tmp_path, BASKET, duplicates="error")


@pytest.mark.parametrize(
    ("content", "layout"),
    [
        ("user_id,item_id\n1,10\n1,11\n2,10\n", "pairs"),
        ("ann,milk\nann,tea\nbob,milk\n", "pairs"),
        ("user,item,timestamp\n1,10,5\n1,11,6\n2,10,9\n", "pairs"),
        ("customer,product,comment\n1,10,good\n1,11,bad\n2,10,fine\n", "pairs"),
        ("1,2\n2,3\n1,4\n", "table"),  # numbers without headings
        ("gene,sample\n1,5\n2,7\n3,9\n", "table"),  # names, and a value each
        ("user,item,rating\n1,10,5\n1,11,6\n2,10,9\n", "triplets"),
        ("x,y\n1,10\n1,11\n", "table"),
        ("Transaction,Product\n1,milk\n1,tea\n2,milk\n", "pairs"),
        ("Member_number,itemDescription\n1808,milk\n1808,tea\n2552,milk\n", "pairs"),
        ("BillNo;Itemname\nA1;milk\nA1;tea\nB2;milk\n", "pairs"),
        ("customer_id,product_price\n1,10\n1,11\n2,10\n", "table"),
    ],
)
def test_rule(content, layout, tmp_path):
    matrix = read(tmp_path, content)
    words = {"pairs": "Read as pairs", "triplets": "Read as triplets", "table": "Read as a table"}
    assert any(note.startswith(words[layout]) for note in matrix.notes)
    if layout == "pairs":
        np.testing.assert_array_equal(matrix.data.data, 1)


def test_names_and_labels_are_no_pairs_but_can_be(tmp_path):
    content = "".join(f"s{i},{'AML' if i % 2 else 'ALL'}\n" for i in range(12))
    with pytest.raises(ReadError, match='layout="pairs"'):
        read(tmp_path, content)
    assert read(tmp_path, content, layout="pairs").shape == (12, 2)


@pytest.mark.parametrize("head", ["BillNo,Itemname", "Order,Product", "invoice_no,stock item"])
def test_headings_of_baskets_above_text(head, tmp_path):
    matrix = read(tmp_path, f"{head}\nA1,milk\nA1,tea\nB2,milk\n")
    assert (matrix.row_names, matrix.column_names) == (("A1", "B2"), ("milk", "tea"))


def test_what_may_be_pairs(tmp_path):
    content = "".join(f"{i % 3},{'milk' if i % 2 else 'tea'}\n" for i in range(12))
    for head in ("", "foo,bar\n", "age,class\n"):
        with pytest.raises(
            ReadError, match=r'number\. If a line is .* layout="pairs"\. Otherwise c'
        ):
            read(tmp_path, head + content)


@pytest.mark.parametrize("sign", [",", " "])
def test_whole_numbers_that_may_be_pairs(sign, tmp_path):
    def told(lines):
        content = "".join(f"{row}{sign}{column}\n" for row, column in lines)
        notes = read(tmp_path, content, name="m.txt").notes
        assert 'Read as a table of numbers; layout="pairs" overrides this.' in notes
        return any("These may be pairs" in note for note in notes)

    assert told([(i % 5, i % 3) for i in range(40)])
    assert told([(7 * i % 10, 3 * i % 4) for i in range(20)])
    assert not told([(i, i % 4) for i in range(20)])  # a row of its own for each line
    assert not told([(i % 5, -(i % 4)) for i in range(20)])
    assert not told([(i % 5, f"{i % 4}.5") for i in range(20)])


def test_columns_by_name(tmp_path):
    content = "when,what,who\n1,milk,ann\n2,tea,ann\n3,milk,bob\n"
    matrix = read(tmp_path, content, columns=["who", "what"])
    assert matrix.row_names == ("ann", "bob")
    np.testing.assert_array_equal(matrix.data.toarray(), [[1, 1], [1, 0]])
    for options in ({"layout": "pairs", "columns": [1, 2, 3]}, {"layout": "triplets"}):
        with pytest.raises(ValueError, match="columns must"):
            read(tmp_path, content, **{"columns": ["who", "what"], **options})


def test_a_single_column_holds_no_pairs(tmp_path):
    with pytest.raises(ReadError, match="Pairs need two columns"):
        read(tmp_path, "x\n1\n2\n", layout="pairs")


def test_blank_ids_are_named(tmp_path):
    with pytest.raises(ReadError, match=r"line 3, column 2 .*blank"):
        read(tmp_path, "user,item\nann,milk\nann,\nbob,milk\n")


def test_parquet_and_stores(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    lines = [line.split(",") for line in BASKET.split()[1:]]
    columns = dict(zip(("user", "item"), map(list, zip(*lines, strict=True)), strict=True))
    parquet.write_table(pa.table(columns), tmp_path / "m.parquet")
    expected = read(tmp_path, BASKET).data.toarray()
    np.testing.assert_array_equal(read_matrix(tmp_path / "m.parquet").data.toarray(), expected)
    for name in ("m.csv", "m.parquet"):
        write_store(tmp_path / f"{name}.blocks", tmp_path / name)
        store = open_store(tmp_path / f"{name}.blocks")
        np.testing.assert_array_equal(store.load(0).toarray(), expected)


def test_three_columns_of_measurements_are_a_table(tmp_path):
    rows = [(i * 7 % 9, i * 5 % 23, i * 3 % 11) for i in range(1, 16)]
    lines = "".join(f"{a} {b} {c}\n" for a, b, c in rows)
    matrix = read(tmp_path, "Chins Situps Jumps\n" + lines)  # between blanks, too
    np.testing.assert_array_equal(matrix.data, rows)
    assert read(tmp_path, "ij kl mn\n" + lines).is_sparse  # headings that say nothing


def test_numbers_without_a_header_that_stand_together_are_pairs(tmp_path):
    basket = "".join(f"{user},{item}\n" for user in range(1, 6) for item in (user, user + 7, 40))
    matrix = read(tmp_path, basket)
    assert matrix.row_names == tuple("12345")
    assert matrix.data.sum() == 15
    assert any(note.startswith("Read as pairs") and "layout=" in note for note in matrix.notes)
    assert read(tmp_path, basket, layout="table").shape == (15, 2)
    mixed = "".join(f"{line % 4},{line % 7}\n" for line in range(20))
    assert read(tmp_path, mixed).shape == (20, 2)  # in no order: measurements, perhaps
    same = "".join(f"{line // 5},{line % 2}\n" for line in range(20))
    assert read(tmp_path, same).shape == (20, 2)  # lines occur twice


def test_a_cell_of_supposed_triplets_that_is_given_twice_is_asked_about(tmp_path):
    lines = [f"{i // 3},{i % 3},{i % 5}" for i in range(30)]
    content = "x,y,z\n" + "\n".join([*lines, lines[4]]) + "\n"
    with pytest.raises(ReadError, match=r'line 32.*twice.*layout="table".*duplicates="sum"'):
        read(tmp_path, content)
    assert read(tmp_path, content, layout="table").shape == (31, 3)
    for options in ({"layout": "triplets"}, {"duplicates": "sum"}):
        matrix = read(tmp_path, content, **options)
        assert matrix.shape == (10, 3)
        assert any("added up" in note for note in matrix.notes)
    # Headings that say so leave no doubt.
    assert read(tmp_path, content.replace("x,y,z", "user,item,rating")).shape == (10, 3)
    read(tmp_path, content, layout="table")
    with pytest.raises(ReadError, match="twice"):
        write_store(tmp_path / "store", tmp_path / "m.csv")
