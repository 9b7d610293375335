"""Each command, snippet, file and link of README.md and the pages for users is run or looked up; others are refused."""

import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
JOBS = (ROOT / "docs" / "jobs.md").read_text(encoding="utf-8")
PYTHON = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
PINS = (ROOT / "docs" / "pins.md").read_text(encoding="utf-8")
PAGES = "\n".join((README, PINS, JOBS, PYTHON))
RIG = "tests/data/rigs/named_mixamo_cm.blend"
WALK = "docs/examples/walk_keypoints.jsonl"
CLIP = "tests/data/motion/cmu_07_12.bvh"

PROGRAMS = {"blender", "make", "nox", "pip", "python", ".ci/run"}
LANGUAGES = {"json", "python", "sh", "text"}
WORDS = 1200  # of README.md, so that it is read
# What runs the commands that are too long for here, and how it shows there.
RUN_BY = {
    "make demo": ("tests/blender/test_demo.py", "demo"),
    "make docs": (".ci/run", "make docs"),
    "make examples": ("tests/blender/test_examples.py", 'load_example("examples")'),
    "make package": (".ci/run", "make package"),
    "make test": (".ci/run", "make test"),
    "python -m nox -s benchmarks -- --peers": ("benchmarks/everything.py", '"--peers"'),
    "python -m nox -s demo": ("tests/blender/test_demo.py", "demo"),
    "python -m nox -s tests": ("Makefile", "python -m nox -s tests"),
    "python -m pip install nox": ("Makefile", "python -m pip install"),
}
INSTALL = ["--command", "extension", "install-file", "--repo", "user_default", "--enable"]
EXIT_CODES = {
    0: "every goal met",
    1: "a goal could not be met",
    2: "bad input, nothing written",
    3: "a bug in Poise itself, nothing written",
}


def blocks(language: str, text: str = PAGES) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands(text: str = PAGES) -> list[str]:
    """The lines of the shell blocks, and what stands between backquotes in the text and begins with a program."""
    lines = [line for block in blocks("sh", text) for line in block.replace("\\\n", " ").splitlines() if line.strip()]
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    spans = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose)]
    return list(
        dict.fromkeys([" ".join(line.split()) for line in lines] + [s for s in spans if s.split()[0] in PROGRAMS])
    )


@cache
def run_verb(*arguments: str) -> tuple[int, str, dict[str, bytes]]:
    """`python standalone.py ARGUMENTS` beside the README's job and rig: exit code, standard error, files it wrote."""
    if importlib.util.find_spec("bpy") is None:
        pytest.skip("there is no bpy module here")
    with TemporaryDirectory() as name:
        folder = Path(name)
        (job,) = blocks("json")
        (folder / "JOB.json").write_text(job, encoding="utf-8")
        for file in (RIG, WALK, CLIP):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / file, folder / file)
        before = set(folder.iterdir())
        done = subprocess.run(
            [sys.executable, str(ROOT / "standalone.py"), *arguments],
            cwd=folder,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
        )
        return (
            done.returncode,
            done.stderr,
            {file.name: file.read_bytes() for file in set(folder.iterdir()) - before if file.is_file()},
        )


def check(command: str) -> None:
    """Run a command of the README, or make sure that something else runs it; AssertionError if nothing does."""
    match shlex.split(command):
        case ["python", "standalone.py", *arguments]:
            assert run_verb(*arguments)[0] == 0
        case ["blender", "--background", blend, "--command", "poise", verb, *arguments]:
            # the same verbs, with the file opened before; tests/package runs them in a real Blender
            assert run_verb(verb, "--blend", blend, *arguments)[0] == 0
        case ["blender", "--background", "--command", "poise", *arguments]:
            assert run_verb(*arguments)[0] == 0
        case ["blender", "--background"]:
            pass
        case ["blender", *arguments, file] if arguments == INSTALL:
            assert ", ".join(f'"{word}"' for word in INSTALL) in read("tests/package/test_package.py")
            assert file == f"dist/poise-{manifest_version()}.zip"
        case ["python", "-m", "pip", "install", requirement] if requirement.startswith("bpy"):
            assert f'"{requirement}"' in read("noxfile.py")
        case _:
            assert command in RUN_BY, f"README.md has a command that no test runs: {command}"
            file, words = RUN_BY[command]
            assert words in read(file)
            check_target(command)


def check_target(command: str) -> None:
    """The make target and the nox session are there, and make leads to nox."""
    match shlex.split(command):
        case ["make", target]:
            rules = [
                rule for rule in re.findall(r"^([a-z ]+):", read("Makefile"), re.MULTILINE) if target in rule.split()
            ]
            assert len(rules) == 1
        case ["python", "-m", "nox", "-s", session, *_]:
            assert re.search(rf"^@nox\.session.*\ndef {session}\(", read("noxfile.py"), re.MULTILINE)


def read(file: str) -> str:
    return (ROOT / file).read_text(encoding="utf-8")


def manifest_version() -> str:
    return tomllib.loads(read("blender_manifest.toml"))["version"]


@pytest.mark.parametrize("command", commands())
def test_every_command_is_run(command: str) -> None:
    check(command)


@pytest.mark.parametrize(
    "text", ["```sh\nmake coffee\n```", "Say `make coffee`.", "```sh\nblender --command extension remove poise\n```"]
)
def test_a_command_that_nothing_runs_is_refused(text: str) -> None:
    (command,) = commands(text)
    with pytest.raises(AssertionError, match="no test runs"):
        check(command)


def test_the_readme_has_the_commands_that_a_newcomer_needs() -> None:
    assert {"make demo", "make test"} <= set(commands(README))
    assert len(README.split()) < WORDS


def test_every_block_has_a_language_that_is_checked() -> None:
    openings = re.findall(r"^```(.*)$", PAGES, re.MULTILINE)[::2]
    assert set(openings) == LANGUAGES


def test_the_verbs_say_what_the_page_says() -> None:
    lines = [line.split()[2:] for line in commands() if line.startswith("python standalone.py") and RIG in line]
    said = [line for arguments in lines for line in run_verb(*arguments)[1].splitlines()]
    expected = blocks("text")[0].splitlines()
    assert [line for line in said if line in expected] == expected


def test_the_job_of_the_page_meets_its_goals() -> None:
    (solve,) = [line.split()[2:] for line in commands() if "--report" in line]
    code, _, written = run_verb(*solve)
    assert code == 0
    assert set(written) == {"reach.blend", "R.json"}
    report = json.loads(written["R.json"])
    assert [goal["met"] for goal in report["goals"]] == [True] * 3
    assert report["frames"] == [1, 24]


def test_the_exit_codes_are_those_of_the_verbs() -> None:
    meanings = {int(code): meaning for code, meaning in re.findall(r"^\| (\d) \| (.*) \|$", JOBS, re.MULTILINE)}
    said = " ".join(read("commands/__init__.py").split())
    assert meanings.keys() == EXIT_CODES.keys()
    for code, words in EXIT_CODES.items():
        assert words in meanings[code]
        assert re.search(rf"\b{code} [^;]*{words}", said)


def test_bad_input_ends_with_the_code_that_the_readme_gives() -> None:
    assert run_verb("solve", "--blend", "missing.blend", "--job", "JOB.json")[0] == 2


def test_the_snippets_one_after_the_other_print_what_the_readme_says(tmp_path: Path) -> None:
    snippet = "\n".join(blocks("python"))
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{snippet}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "".join(blocks("text")[1:])


def links(text: str) -> list[str]:
    return [link for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith(("http://", "https://"))]


@pytest.mark.parametrize(
    "document",
    ["README.md", "CONTRIBUTING.md", *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md"))],
)
def test_links_lead_somewhere(document: str) -> None:
    folder = (ROOT / document).parent
    missing = [link for link in links(read(document)) if not (folder / link.partition("#")[0]).exists()]
    assert [link for link in missing if not link.startswith("#")] == []


@pytest.mark.parametrize("span", sorted(set(re.findall(r"`([\w./]+(?:/|\.\w+))`", PAGES))))
def test_files_that_are_named_are_there_or_made(span: str) -> None:
    made = {"JOB.json", "build/", f"dist/poise-{manifest_version()}.zip"}
    assert span in made or (ROOT / span).exists()


def test_there_are_no_paths_of_a_machine() -> None:
    assert re.findall(r"(?<![\w.])/(?:home|root|tmp|work|Users)\b", PAGES) == []
