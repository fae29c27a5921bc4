"""The command `dappled`: exit status, messages, files and colours."""

import io
import subprocess
import sys
from importlib.metadata import version

import pytest
from dappled import show
from dappled.cli import main
from dappled.protocol import Distribution

ARRAY = ["show", "--shape", "5,9", "--dist", "b,c", "--grid", "2,2"]


def failure(capsys, *arguments):
    """What a command that ends with status 2 says, on stderr alone."""
    with pytest.raises(SystemExit) as exit_:
        main(list(arguments))
    assert exit_.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def test_prints_the_array(capsys):
    assert main(ARRAY) == 0
    expected = show.text(Distribution((5, 9), "bc", grid_shape=(2, 2)))
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            "--shape 5,9 --dist bc --grid 2,2 --block-size ,2",
            {"dist": "bc", "block_size": [None, 2]},
        ),
        ("--shape 5,9 --grid 2,2 --bounds 0,1,5;0,7,9", {"bounds": [[0, 1, 5], [0, 7, 9]]}),
        ("--shape 5,9 --grid 2,2 --bounds 0/1/5;", {"bounds": [[0, 1, 5], None]}),
        ("--shape 5,9 --grid 2,2 --padding 1", {"padding": 1}),
        ("--shape 5,9 --grid 2,2 --padding 1,", {"padding": [1, None]}),
        ("--shape 5,9 --grid 2,2 --padding 1/1/0;2", {"padding": [[1, 1, 0], 2]}),
        ("--shape 5,9 --grid 2,2 --padding 1 --periodic", {"padding": 1, "periodic": True}),
        (
            "--shape 5,9 --grid 2,2 --padding 1 --periodic yes,no",
            {"padding": 1, "periodic": [True, False]},
        ),
        (
            "--shape 5,9 --dist u,b --grid 2,2 --indices 3,0/4,2,1; --one-to-one",
            {"dist": "ub", "indices": [[[3, 0], [4, 2, 1]], None], "one_to_one": True},
        ),
    ],
)
def test_options(capsys, arguments, expected):
    assert main(["show", *arguments.split()]) == 0
    distribution = Distribution((5, 9), grid_shape=(2, 2), **expected)
    assert capsys.readouterr().out == show.text(distribution)


def test_number_of_ranks_without_a_grid(capsys):
    assert main(["show", "--shape", "5,9", "--nprocs", "4"]) == 0
    assert capsys.readouterr().out == show.text(Distribution((5, 9), nprocs=4))


def test_zero_dimensions(capsys):
    assert main(["show", "--shape", "", "--nprocs", "2"]) == 0
    assert capsys.readouterr().out.startswith("0-d over 2 ranks\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--shape 5,x", "argument --shape: 'x' is not an integer"),
        ("--shape 5 --padding 1/x", "argument --padding: 'x' is not an integer"),
        ("--shape 5 --periodic maybe", "argument --periodic: 'maybe' is neither yes nor no"),
        ("--shape 5 -o x.gif", "argument -o/--output: 'x.gif' ends neither in .svg nor in .png"),
        ("--grid 2", "the following arguments are required: --shape"),
        ("--shape 5 -o /nowhere/x.svg", "can't write /nowhere/x.svg: No such file or directory"),
    ],
)
def test_wrong_arguments(capsys, arguments, message):
    assert failure(capsys, "show", *arguments.split()) == f"dappled show: {message}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        "--shape 5 --dist q",
        "--shape 5 --dist bb",
        "--shape=-1",
        "--shape 5 --grid 0",
        "--shape 5,9 --grid 2,2 --nprocs 3",
        "--shape 18 --grid 2 --padding 10",
        "--shape 5 --dist u --grid 2 --indices=-3,0//7",
    ],
)
def test_protocol_errors(capsys, arguments):
    message = failure(capsys, "show", *arguments.split())
    assert message.startswith("dappled show: ")
    assert message.count("\n") == 1


def test_a_command_is_required(capsys):
    assert failure(capsys) == "dappled: the following arguments are required: COMMAND\n"


def test_help_has_examples(capsys):
    with pytest.raises(SystemExit) as exit_:
        main(["show", "--help"])
    assert exit_.value.code == 0
    assert "dappled show --shape 40 --grid 4 --padding 4/1/2/3/0" in capsys.readouterr().out


def test_writes_several_files(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    names = [tmp_path / "array.svg", tmp_path / "array.png"]
    assert main([*ARRAY, "-o", str(names[0]), "-o", str(names[1])]) == 0
    assert names[0].read_text().startswith("<svg ")
    assert names[1].read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out.endswith(f"\n\nwrote {names[0]}\nwrote {names[1]}\n")


def test_png_without_matplotlib(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    message = failure(capsys, *ARRAY, "-o", str(tmp_path / "array.png"))
    assert message == "dappled show: PNG needs matplotlib: pip install dappled[plot]\n"


class Terminal(io.StringIO):
    """Standard output on a terminal."""

    def isatty(self):
        return True


def on_terminal(monkeypatch, *options, **environment):
    """What is printed on a terminal of 256 colours."""
    for name, value in ({"TERM": "xterm-256color", "NO_COLOR": ""} | environment).items():
        monkeypatch.setenv(name, value)
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    main([*ARRAY, *options])
    return stream.getvalue()


def test_colours_on_a_terminal(monkeypatch):
    assert "\x1b[38;5;" in on_terminal(monkeypatch)


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colours_where_they_are_not_wanted(monkeypatch, environment):
    assert "\x1b" not in on_terminal(monkeypatch, **environment)


def test_no_color_option(monkeypatch):
    assert "\x1b" not in on_terminal(monkeypatch, "--no-color")


def run(*arguments, **options):
    command = [sys.executable, "-m", "dappled", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_version():
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"dappled {version('dappled')}\n")


def test_a_reader_that_has_enough_is_no_error():
    command = f"{sys.executable} -m dappled show --shape 32,32 --grid 4,4 | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stderr == ""
