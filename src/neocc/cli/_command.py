"""How a command is made from a function: options, help page, errors, and what it says.

A function states the arguments and options that are its own; the options of settings, and --quiet
and --json, are added here. It returns an `Answer`. Only typer is imported before a command runs, so
that help pages stay quick.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand

from neocc import __version__
from neocc.cli._guard import complain, guarded
from neocc.cli._settings import SETTINGS, Panel, option_of
from neocc.preprocessing import PREPROCESSORS

if TYPE_CHECKING:
    from neocc.cli._terminal import Terminal

__all__ = ["FORCE", "Answer", "Run", "app", "argument", "command", "flag", "option", "output"]

_WIDTH = 80
EXIT_CODES = {
    "0": "done",
    "1": "an internal error or a failure of the machine, such as too little memory",
    "2": "an error in the command, an input file or the output path",
    "130": "interrupted with Ctrl-C",
}

app = typer.Typer(
    name="neocc",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"neocc {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    ctx: typer.Context,
    version: bool = typer.Option(  # noqa: ARG001
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
    ),
    traceback: bool = typer.Option(
        False, "--traceback", help="Show the full traceback of an error."
    ),
) -> None:
    """Co-cluster a matrix: group its rows and columns simultaneously.

    Groups may overlap, and rows or columns that fit nowhere may be left out.
    """
    ctx.obj = traceback


@dataclass(frozen=True)
class Run:
    """What a command is run with besides its own options."""

    terminal: Terminal
    given: dict[str, Any]  # the settings that were given, checked


@dataclass(frozen=True)
class Answer:
    """What a command has to say: a page for people, a value for programs, and remarks."""

    page: Callable[[], Iterable[Any]]
    json: Callable[[], Any]
    notes: Sequence[str] = ()
    complaints: Sequence[str] = ()  # said even if the command is quiet
    code: int = 0
    interrupted: str = "Interrupted."  # what to say if Ctrl-C ends the saying


def option(metavar: str, help_: str, panel: Panel | None = None, *names: str, **more: Any) -> Any:
    """Make an option, None if not given and no default is, whose help tells its default itself."""
    more |= {"metavar": metavar, "help": help_, "rich_help_panel": panel, "show_default": False}
    return typer.Option(more.pop("default", None), *names, **more)


def argument(metavar: str, help_: str, default: Any = ...) -> Any:
    """Make an argument."""
    return typer.Argument(default, metavar=metavar, help=help_, show_default=False)


def flag(name: str, help_: str) -> Any:
    """Make an option without a value."""
    return option("", help_, Panel.OUTPUT, name, default=False)


def output(metavar: str, help_: str) -> Any:
    """Make the option that says where to write."""
    return option(metavar, help_, Panel.OUTPUT, "--output", "-o")


FORCE = flag("--force", "Replace an earlier result.")


def command(
    *examples: tuple[str, str], settings: Sequence[str] = (), interrupted: str = "Interrupted."
) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Make a function a command of `app`, called like the function, with the options of settings.

    Examples say what a command line does, and the command line. `interrupted` is what to say after
    Ctrl-C, unless the interrupt says more.
    """

    def register(function: Callable[..., Answer]) -> Callable[..., Answer]:
        own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
        names = [one.name for one in own]
        added = [one for name in settings for one in _options_of(name)]
        added += [
            _parameter("quiet", bool, flag("--quiet", "Print nothing but errors.")),
            _parameter("as_json", bool, flag("--json", "Print the answer as JSON.")),
        ]

        def invoke(ctx: typer.Context, quiet: bool, as_json: bool, **options: Any) -> None:
            told = partial(guarded, show_traceback=bool(ctx.obj), as_json=as_json)
            with told(interrupted=interrupted):
                from neocc.cli._given import from_options
                from neocc.cli._terminal import Terminal

                terminal = Terminal(quiet=quiet, as_json=as_json)
                mine = {name: options.pop(name) for name in names}
                answer = function(Run(terminal, from_options(options)), **mine)
            with told(interrupted=answer.interrupted):
                terminal.tell(answer)
            for line in answer.complaints:
                complain(line)
            if answer.code:
                raise typer.Exit(answer.code)

        own = [_parameter(one.name, one.annotation, one.default) for one in own]
        offered = [_parameter("ctx", typer.Context), *sorted([*own, *added], key=_panel)]
        invoke.__signature__ = inspect.Signature(offered)  # type: ignore[attr-defined]
        invoke.__annotations__ = {one.name: one.annotation for one in offered}
        invoke.__doc__ = function.__doc__
        help_page = _with_examples(examples, steps="preprocess" in settings)
        app.command(function.__name__, cls=help_page)(invoke)
        return function

    return register


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> Any:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, annotation=annotation, default=default)


def _panel(parameter: inspect.Parameter) -> int:
    return [None, *Panel].index(parameter.default.rich_help_panel)


def _options_of(name: str) -> list[inspect.Parameter]:
    """Return the options of a setting."""
    setting = SETTINGS[name]
    extras = dict(setting.kind.extras)
    if setting.words:
        extras["autocompletion"] = lambda incomplete: [
            word for word in setting.words if word.startswith(incomplete)
        ]
    forms: dict[str, tuple[Any, str, str, dict[str, Any]]] = {
        name: (setting.kind.annotation, setting.metavar, setting.help, extras),
        f"no_{name}": (bool, "", setting.off, {}),
        f"{name}_in": (str, "COLUMN", setting.column, {}),
    }
    return [
        _parameter(form, kind | None, option(sign, help_, setting.panel, option_of(form), **more))
        for form, (kind, sign, help_, more) in forms.items()
        if help_
    ]


# ------------------------------------------------------------------------------------ help pages


def _with_examples(examples: tuple[tuple[str, str], ...], *, steps: bool) -> type[TyperCommand]:
    """Make a command whose help page ends with examples, steps of preprocessing and exit codes.

    Not typer's epilog: how that breaks lines depends on the version.
    """
    lines = [typer.style(" Examples", bold=True)]
    for about, line in examples:
        lines += [f"   {about}:", f"     {typer.style(line, 'cyan')}"]
    if steps:
        lines += ["", typer.style(" Steps of --preprocess", bold=True), *_pairs(PREPROCESSORS)]
    lines += ["", typer.style(" Exit codes", bold=True), *_pairs(EXIT_CODES), ""]

    class Command(TyperCommand):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            as_json = "--json" in args
            try:
                return super().parse_args(ctx, args)
            except Exception as error:
                if as_json and hasattr(error, "format_message"):
                    typer.echo(json.dumps({"error": error.format_message()}))
                raise

        def format_help(self, ctx: Any, formatter: Any) -> None:
            super().format_help(ctx, formatter)
            for line in lines:
                typer.echo(line)

    return Command


def _pairs(texts: dict[str, str]) -> list[str]:
    width = max(map(len, texts))
    lines = []
    for name, text in texts.items():
        first, *rest = wrap(text, _WIDTH - width - 5)
        lines.append(f"   {typer.style(name.ljust(width), 'cyan')}  {first}")
        lines += [" " * (width + 5) + line for line in rest]
    return lines
