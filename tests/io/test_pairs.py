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


ENTRIES = [(user, item, (user * item) % 5 + 1) for user in range(1, 9) for item in range(1, 9)]


def as_list(*columns, sign=","):
    """Write lines of user, item, value, time, date and number of the line, as asked for."""
    lines = [columns and sign.join(heading for heading, _ in columns)]
    for at, (user, item, value) in enumerate(ENTRIES):
        said = {"u": user, "i": item, "v": value, "t": 881250949 + at, "d": f"2020-01-0{item}"}
        said["n"] = at + 1
        lines.append(sign.join(str(said[what]) for _, what in columns))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "columns",
    [
        [("Benutzer", "u"), ("Artikel", "i"), ("Bewertung", "v"), ("Zeitstempel", "t")],
        [("utilisateur", "u"), ("film", "i"), ("note", "v"), ("date", "d")],
        [("usuario_id", "u"), ("producto", "i"), ("cantidad", "v"), ("fecha", "d")],
        [("пользователь", "u"), ("товар", "i"), ("оценка", "v"), ("время", "t")],
        [("", "n"), ("user", "u"), ("item", "i"), ("rating", "v")],
        [("Unnamed: 0", "n"), ("userId", "u"), ("movieId", "i"), ("rating", "v"), ("time", "t")],
        [("date", "d"), ("user", "u"), ("item", "i"), ("rating", "v")],
        [("rating", "v"), ("user", "u"), ("item", "i")],
        [("user", "u"), ("date", "d"), ("item", "i"), ("rating", "v")],
        [("kukka", "u"), ("puutarha", "i"), ("hinta", "v"), ("hetki", "t")],  # unknown, but a time
    ],
)
def test_lists_wherever_their_columns_are_and_whatever_they_are_called(tmp_path, columns):
    matrix = read(tmp_path, as_list(*columns))
    expected = np.zeros((8, 8))
    for user, item, value in ENTRIES:
        expected[user - 1, item - 1] = value
    np.testing.assert_array_equal(matrix.data.toarray(), expected)
    others = [heading for heading, what in columns if what not in "uiv"]
    note = next((one for one in matrix.notes if one.startswith("Left out")), "")
    assert all(f"({heading!r})" in note for heading in others if heading)


@pytest.mark.parametrize("first", [("", "n"), ("n", "n"), ("date", "d")])
def test_pairs_beside_a_date_or_the_number_of_the_line(tmp_path, first):
    matrix = read(tmp_path, as_list(first, ("user", "u"), ("item", "i")))
    np.testing.assert_array_equal(matrix.data.toarray(), np.ones((8, 8)))


def test_tables_below_headings_like_those_of_lists(tmp_path):
    own = "".join(f"{at},c{at},s{at % 3},{at % 4}\n" for at in range(12))
    with pytest.raises(ReadError, match="is not a number"):  # read as a table
        read(tmp_path, f"id,city,state,count\n{own}")
    content = "date,user,item,a\n" + "".join(f"2020-01-{at + 10},{at},3,1\n" for at in range(9))
    assert not read(tmp_path, content).is_sparse
    lines = "".join(f"{at % 4},{at % 3},{at % 7},{at % 5}\n" for at in range(24))
    assert not read(tmp_path, f"user,item,age,rating\n{lines}").is_sparse
    lines = "".join(f"{at % 3},{at % 4},{at},{at + 1}00000000\n" for at in range(12))
    assert not read(tmp_path, f"a,b,c,d\n{lines}").is_sparse


def test_remarks_are_no_values(tmp_path):
    lines = "".join(f"u{at // 3},i{at % 3},well\n" for at in range(12))
    assert read(tmp_path, f"user,item,note\n{lines}").notes[0].startswith("Read as pairs")
    lines = "".join(f"2020,u{at // 3},i{at % 3},well\n" for at in range(12))
    assert read(tmp_path, f"date,user,item,note\n{lines}").notes[0].startswith("Read as pairs")
    times = "".join(f"{at % 4},{at % 3},{at % 5},{881250949 + at}\n" for at in range(12))
    assert read(tmp_path, f"alpha,beta,gamma,delta\n{times}").is_sparse
