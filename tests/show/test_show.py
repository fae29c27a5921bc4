"""Pictures of distributions: golden text, and SVG checked against `owner`."""

import doctest
import importlib
import pkgutil
from collections import Counter
from itertools import pairwise, product
from xml.etree import ElementTree

import pytest
from dappled import show
from dappled.protocol import Distribution
from dappled.show import palette, runs
from dappled.show.picture import picture

SVG = "{http://www.w3.org/2000/svg}"

BLOCK_CYCLIC = Distribution((5, 9), "bc", grid_shape=(2, 2))
PADDED = Distribution((18,), "b", grid_shape=(2,), padding=1)
EMPTY_RANK = Distribution((5, 2), "bb", grid_shape=(4, 1))
UNSTRUCTURED = Distribution(
    (5, 9), "uu", grid_shape=(2, 2), indices=[[[3, 0], [4, 2, 1]], [[2, 3, 7, 1], [6, 5, 8, 0, 4]]]
)
LABELS = Distribution((5,), "u", grid_shape=(2,), indices=[[[-3, 0, 7], [7, 2]]])
REGIONS = Distribution((1000, 300), "bc", grid_shape=(2, 2), block_size=[None, 100])
FINE = Distribution((1000,), "c", grid_shape=(3,))
SLABS = Distribution((2, 2, 3), "bbc", grid_shape=(2, 1, 2))
WHOLE = Distribution((2, 3), "nn", nprocs=3)
VALUE = Distribution((), nprocs=3)
NOTHING = Distribution((0, 3), "bb", grid_shape=(2, 1))
# In 0.9 the outer padding of a periodic axis is a copy of the other end.
PERIODIC = Distribution.from_dim_data(
    [
        [
            {
                "dist_type": "b",
                "size": 10,
                "proc_grid_size": 2,
                "proc_grid_rank": rank,
                "start": 5 * rank,
                "stop": 5 * rank + 5,
                "padding": (1, 1),
                "periodic": True,
            }
        ]
        for rank in (0, 1)
    ],
    local_shapes=[(7,), (7,)],
    version="0.9.0",
)
HUGE = Distribution((10**9, 10**9), "bb", grid_shape=(1000, 1000))

GOLDEN = {
    "block-cyclic": (
        BLOCK_CYCLIC,
        """\
5 x 9, block x cyclic, over 4 ranks in a grid of 2 x 2

   | 0 1 2 3 4 5 6 7 8
---+------------------
 0 | 0 1 0 1 0 1 0 1 0
 1 | 0 1 0 1 0 1 0 1 0
 2 | 0 1 0 1 0 1 0 1 0
 3 | 2 3 2 3 2 3 2 3 2
 4 | 2 3 2 3 2 3 2 3 2

rank 0  (0, 0)  3 x 5  owns [0:3] x [0:9:2]
rank 1  (0, 1)  3 x 4  owns [0:3] x [1:8:2]
rank 2  (1, 0)  2 x 5  owns [3:5] x [0:9:2]
rank 3  (1, 1)  2 x 4  owns [3:5] x [1:8:2]
""",
    ),
    "padded": (
        PADDED,
        """\
18 elements, block, over 2 ranks

 index |  0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17
-------+------------------------------------------------------
  rank |  0  0  0  0  0  0  0  0  0  1  1  1  1  1  1  1  1  1

rank 0  (0)  10  owns [0:9], holds [0:10]
rank 1  (1)  10  owns [9:18], holds [8:18]
""",
    ),
    "empty rank": (
        EMPTY_RANK,
        """\
5 x 2, block x block, over 4 ranks in a grid of 4 x 1

   | 0 1
---+----
 0 | 0 0
 1 | 0 0
 2 | 1 1
 3 | 1 1
 4 | 2 2

rank 0  (0, 0)  2 x 2  owns [0:2] x [0:2]
rank 1  (1, 0)  2 x 2  owns [2:4] x [0:2]
rank 2  (2, 0)  1 x 2  owns [4] x [0:2]
rank 3  (3, 0)  0 x 2  owns nothing
""",
    ),
    "unstructured": (
        UNSTRUCTURED,
        """\
5 x 9, unstructured x unstructured, over 4 ranks in a grid of 2 x 2

   | 0 1 2 3 4 5 6 7 8
---+------------------
 0 | 1 0 0 0 1 1 1 0 1
 1 | 3 2 2 2 3 3 3 2 3
 2 | 3 2 2 2 3 3 3 2 3
 3 | 1 0 0 0 1 1 1 0 1
 4 | 3 2 2 2 3 3 3 2 3

rank 0  (0, 0)  2 x 4  owns [3, 0] x [2, 3, 7, 1]
rank 1  (0, 1)  2 x 5  owns [3, 0] x [6, 5, 8, 0, 4]
rank 2  (1, 0)  3 x 4  owns [4, 2, 1] x [2, 3, 7, 1]
rank 3  (1, 1)  3 x 5  owns [4, 2, 1] x [6, 5, 8, 0, 4]
""",
    ),
    "repeated and negative labels": (
        LABELS,
        """\
5 elements, unstructured, over 2 ranks

 index | -3  0  2  7
-------+------------
  rank |  0  0  1 0+

(axis 0: its labels are not exactly 0:5)
(a label that several ranks hold is owned by the lowest of them)

rank 0  (0)  3  owns [-3, 0, 7]
rank 1  (1)  2  owns [7, 2]
""",
    ),
    "regions": (
        REGIONS,
        """\
1000 x 300, block x cyclic by 100, over 4 ranks in a grid of 2 x 2

          |   0:100 100:200 200:300
----------+------------------------
    0:500 |       0       1       0
 500:1000 |       2       3       2

rank 0  (0, 0)  500 x 200  owns [0:500] x [0:100, 200:300]
rank 1  (0, 1)  500 x 100  owns [0:500] x [100:200]
rank 2  (1, 0)  500 x 200  owns [500:1000] x [0:100, 200:300]
rank 3  (1, 1)  500 x 100  owns [500:1000] x [100:200]
""",
    ),
    "fine cyclic": (
        FINE,
        """\
1000 elements, cyclic, over 3 ranks

 index |  0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 ...
-------+----------------------------------------------------
  rank |  0  1  2  0  1  2  0  1  2  0  1  2  0  1  2  0 ...

(axis 0: 0:16 of 0:1000 is drawn; the pattern repeats)

rank 0  (0)  334  owns [0:1000:3]
rank 1  (1)  333  owns [1:998:3]
rank 2  (2)  333  owns [2:999:3]
""",
    ),
    "slabs": (
        SLABS,
        """\
2 x 2 x 3, block x block x cyclic, over 4 ranks in a grid of 2 x 1 x 2

[0, :, :]
   | 0 1 2
---+------
 0 | 0 1 0
 1 | 0 1 0

[1, :, :]
   | 0 1 2
---+------
 0 | 2 3 2
 1 | 2 3 2

rank 0  (0, 0, 0)  1 x 2 x 2  owns [0] x [0:2] x [0, 2]
rank 1  (0, 0, 1)  1 x 2 x 1  owns [0] x [0:2] x [1]
rank 2  (1, 0, 0)  1 x 2 x 2  owns [1] x [0:2] x [0, 2]
rank 3  (1, 0, 1)  1 x 2 x 1  owns [1] x [0:2] x [1]
""",
    ),
    "whole": (
        WHOLE,
        """\
2 x 3, whole on each of 3 ranks

   | 0 1 2
---+------
 0 | * * *
 1 | * * *

rank 0 to 2  2 x 3  holds everything
""",
    ),
    "view": (
        BLOCK_CYCLIC.slice((3, slice(None, None, -1))),
        """\
9 elements, unstructured, over 4 ranks

 index | 0 1 2 3 4 5 6 7 8
-------+------------------
  rank | 2 3 2 3 2 3 2 3 2

rank 0  (0)  0  owns nothing
rank 1  (1)  0  owns nothing
rank 2  (2)  5  owns [0:9:2]
rank 3  (3)  4  owns [1:8:2]
""",
    ),
    "0-d view": (
        BLOCK_CYCLIC.slice((3, 5)),
        """\
0-d over 4 ranks

rank 0  ()  0-d  owns nothing
rank 1  ()  0-d  owns nothing
rank 2  ()  0-d  owns nothing
rank 3  ()  0-d  owns the value
""",
    ),
    "labels with a gap": (
        Distribution((100,), "u", grid_shape=(2,), indices=[[range(50), range(60, 90)]]),
        """\
100 elements, unstructured, over 2 ranks

 index | 0:50 ...
-------+---------
  rank |    0 ...

(axis 0: 0:50 of 0:100 is drawn; no rank has the label 50)

rank 0  (0)  50  owns [0:50]
rank 1  (1)  30  owns [60:90]
""",
    ),
    "periodic 0.9": (
        PERIODIC,
        """\
10 elements, block, over 2 ranks

 index | 0 1 2 3 4 5 6 7 8 9
-------+--------------------
  rank | 0 0 0 0 0 1 1 1 1 1

rank 0  (0)  7  owns [0:5], holds [9, 0:6]
rank 1  (1)  7  owns [5:10], holds [4:10, 0]
""",
    ),
    "0-d": (VALUE, "0-d over 3 ranks\n\nrank 0 to 2  0-d  holds everything\n"),
    "size 0": (
        NOTHING,
        """\
0 x 3, block x block, over 2 ranks in a grid of 2 x 1

(no rank holds an element)

rank 0  (0, 0)  0 x 3  owns nothing
rank 1  (1, 0)  0 x 3  owns nothing
""",
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_plain_text(name):
    distribution, expected = GOLDEN[name]
    assert show.text(distribution) == expected


def test_coloured_text_is_the_plain_text_painted():
    painted = show.text(BLOCK_CYCLIC, color=True)
    background = palette.ansi256(palette.color(3))
    assert f"48;5;{background}m 3\x1b[0m" in painted
    pieces = painted.split("\x1b[")
    assert pieces[0] + "".join(piece.partition("m")[2] for piece in pieces[1:]) == show.text(
        BLOCK_CYCLIC
    )


def test_wide_tables_are_cut_into_bands():
    lines = show.text(Distribution((2, 30), "bb", grid_shape=(1, 2)), width=50).splitlines()
    assert max(map(len, lines)) <= 60
    assert [line for line in lines if line.startswith("   |")][1].split()[1] == "15"


def parsed(distribution):
    return ElementTree.fromstring(show.svg(distribution))


def boxes(root, *roles):
    return [rect for rect in root.iter(f"{SVG}rect") if rect.get("class") in roles]


def written(root):
    """(text, rank) of every element's box that has a text after it."""
    children = list(root)
    pairs = pairwise(children)
    return Counter(
        (text.text, int(box.get("data-rank")))
        for box, text in pairs
        if box.get("class") == "cell" and text.tag == f"{SVG}text"
    )


@pytest.mark.parametrize("distribution", [BLOCK_CYCLIC, EMPTY_RANK, UNSTRUCTURED])
def test_svg_has_each_element_in_the_owners_colour_globally_and_locally(distribution):
    root = parsed(distribution)
    elements = product(*map(range, distribution.shape))
    owners = {f"{i},{j}": distribution.owner((i, j))[0] for i, j in elements}
    assert written(root) == {item: 2 for item in owners.items()}
    for box in boxes(root, "cell"):
        color = palette.paler(palette.color(int(box.get("data-rank"))), 0.2)
        assert box.get("fill") == palette.hexadecimal(color)


def test_svg_titles():
    root = parsed(EMPTY_RANK)
    assert root.find(f"{SVG}title").text == "5 x 2, block x block, over 4 ranks in a grid of 4 x 1"
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert [text for text in texts if text.startswith("rank")] == [
        "rank 0 (0, 0)",
        "rank 1 (1, 0)",
        "rank 2 (2, 0)",
        "rank 3 (3, 0)",
    ]
    assert texts.count("empty") == len(boxes(root, "empty")) == 1
    background = root.find(f"{SVG}rect")
    assert (background.get("class"), background.get("fill")) == ("background", "#ffffff")


def test_svg_marks_padding():
    root = parsed(PADDED)
    # Rank 0 holds a copy of 9, which rank 1 owns, and the other way round.
    assert [box.get("data-rank") for box in boxes(root, "communication")] == ["1", "0"]
    assert [box.get("data-rank") for box in boxes(root, "boundary")] == ["0", "1"]
    assert len(boxes(root, "hatch")) == 2
    assert "hatched: communication padding" in show.svg(PADDED)


def test_svg_marks_what_a_periodic_axis_copies_from_the_other_end():
    copies = boxes(parsed(PERIODIC), "communication")
    assert [box.get("data-rank") for box in copies] == ["1", "1", "0", "0"]


def test_svg_shows_ranks_without_a_0d_view():
    root = parsed(BLOCK_CYCLIC.slice((3, 5)))
    assert [box.get("data-rank") for box in boxes(root, "cell")] == ["3", "3"]
    assert len(boxes(root, "empty")) == 3


def test_svg_splits_the_box_of_a_repeated_label():
    assert [box.get("data-rank") for box in boxes(parsed(LABELS), "share")] == ["0", "1"]


def test_svg_of_whole_arrays_names_no_rank():
    root = parsed(WHOLE)
    assert len(boxes(root, "cell")) == 2 * 6
    assert not any(box.get("data-rank") for box in boxes(root, "cell"))
    assert "every rank, 0 to 2" in [text.text for text in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("distribution", [VALUE, NOTHING, SLABS, HUGE, FINE])
def test_every_kind_of_array_gives_valid_svg_and_html(distribution):
    assert parsed(distribution).tag == f"{SVG}svg"
    assert ElementTree.fromstring(show.html(distribution)).tag == "div"


def test_svg_draws_regions_to_scale():
    root = parsed(Distribution((100, 50), "bb", grid_shape=(2, 1), bounds=[[0, 75, 100], None]))
    first, second = boxes(root, "cell")[:2]
    assert float(first.get("height")) == pytest.approx(3 * float(second.get("height")))
    assert first.find(f"{SVG}title").text == "rank 0: 0:75, 0:50"
    assert {"rank 0", "rank 1", "0:75", "75:100"} <= {text.text for text in root.iter(f"{SVG}text")}


def test_html_lists_the_first_ranks():
    html = show.html(HUGE)
    assert html.count("<tr>") == 1 + 16 + 1
    assert "... and 999984 more ranks" in html


def test_notebook_methods():
    assert BLOCK_CYCLIC._repr_svg_() == show.svg(BLOCK_CYCLIC)
    assert BLOCK_CYCLIC._repr_html_() == show.html(BLOCK_CYCLIC)


class Counted:
    """A distribution that counts what it is asked."""

    def __init__(self, distribution):
        self._distribution = distribution
        self.calls = Counter()

    def __getattr__(self, name):
        value = getattr(self._distribution, name)
        if not callable(value):
            return value

        def counted(*args, **kwargs):
            self.calls[name] += 1
            return value(*args, **kwargs)

        return counted


@pytest.mark.parametrize(
    "distribution",
    [
        HUGE,
        HUGE.slice((slice(None, None, -1), slice(None, None, -1))),
        Distribution((10**9,), "c", grid_shape=(10**6,), block_size=7),
        Distribution((10**9, 10**9), "bb", grid_shape=(10**3, 10**3), padding=5),
        Distribution((10**6, 10**6, 10**6), "bcb", grid_shape=(100, 100, 100)),
        Distribution((30, 30), "bc", grid_shape=(5, 6)),
    ],
)
@pytest.mark.parametrize("draw", [show.svg, show.html, show.text])
def test_work_is_bounded(distribution, draw):
    counted = Counted(distribution)
    assert len(draw(counted)) < 1_000_000
    assert counted.calls.total() < 20_000


@pytest.mark.parametrize("name", ["b", "c", "c7", "u", "reversed"])
def test_regions_are_the_owners(name):
    """Every region of a large array, against `owner` of each of its indices."""
    large = {
        "b": Distribution((100,), "b", grid_shape=(7,), padding=3),
        "c": Distribution((60,), "c", grid_shape=(9,)),
        "c7": Distribution((100,), "c", grid_shape=(4,), block_size=7),
        "u": Distribution(
            (60,),
            "u",
            grid_shape=(2,),
            indices=[[[*range(20), *range(40, 60)], [*range(20, 40)][::-1]]],
        ),
        "reversed": Distribution((100,), "b", grid_shape=(7,)).slice((slice(None, None, -1),)),
    }[name]
    (panel,) = picture(large).panels
    at = 0
    for segment, cell in zip(panel.columns.segments, panel.cells[0], strict=True):
        assert segment.first == at
        at += segment.length
        owners = {large.owner((index,))[0] for index in range(segment.first, at)}
        assert owners == set(cell.ranks)
    assert at == large.shape[0] or panel.columns.more


def test_labels_out_of_order_are_probed():
    # The ends of the run fit, what is between does not.
    table = [0, 50, *range(2, 40)]
    assert runs.run_length(lambda k: (table[k],), 40, ordered=False) == 1


def test_the_first_colours_stay_apart():
    colors = [palette.color(rank) for rank in range(64)]
    assert len(set(colors)) == 64
    assert len({palette.ansi256(color) for color in colors[:8]}) == 8
    for color in colors:
        assert palette.contrast(palette.ink(color), color) > 3.5


def test_png():
    pytest.importorskip("matplotlib")
    data = show.png(BLOCK_CYCLIC)
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = (int.from_bytes(data[at : at + 4]) for at in (16, 20))
    root = parsed(BLOCK_CYCLIC)
    # Two pixels of the file for one of the scene.
    assert width == pytest.approx(2 * float(root.get("width")), abs=2)
    assert height == pytest.approx(2 * float(root.get("height")), abs=2)


def test_save_goes_by_the_suffix(tmp_path):
    show.save(BLOCK_CYCLIC, tmp_path / "array.SVG")
    assert (tmp_path / "array.SVG").read_text(encoding="utf-8") == show.svg(BLOCK_CYCLIC)
    with pytest.raises(
        ValueError, match=r"array\.gif: expected a name that ends in \.svg or \.png"
    ):
        show.save(BLOCK_CYCLIC, tmp_path / "array.gif")


def test_examples_in_docstrings():
    for module in pkgutil.iter_modules(show.__path__, "dappled.show."):
        assert doctest.testmod(importlib.import_module(module.name)).failed == 0, module.name
