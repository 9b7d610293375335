"""Every environment and check of Poise, the same on Linux, macOS and Windows: `python -m nox -s SESSION -- ARGUMENTS`.

A session whose Python is missing is skipped and says so; with CI=true it fails.
The two environments with Blender are made once, under .nox/, and shared by the sessions: bpy is a big download.
"""

import os
import sys
from pathlib import Path

import nox

# Python of each Blender -> what stands for that Blender outside of it. Newest first.
BLENDERS = {
    "3.13": ["bpy==5.2.*", "numpy==2.*"],
    "3.11": ["bpy==4.5.*", "numpy==1.26.*"],
}
PYPROJECT = nox.project.load_toml("pyproject.toml")

nox.needs_version = ">=2026.4"
nox.options.sessions = ["lint", "tests"]
nox.options.default_venv_backend = "virtualenv"
nox.options.download_python = "never"
nox.options.error_on_missing_interpreters = os.environ.get("CI") == "true"

_done: set[str] = set()


def group(name: str) -> list[str]:
    """One of the dependency groups of pyproject.toml."""
    return list(nox.project.dependency_groups(PYPROJECT, name))


def once(session: nox.Session) -> None:
    """Skip this session if it ran with a newer Python just now."""
    name = session.name.rpartition("-")[0]
    if name in _done:
        session.skip("done with the newest Python that is here")
    _done.add(name)


def blender(session: nox.Session) -> str:
    """The Python of the shared environment with this session's Blender, made at its first use."""
    requirements = [*BLENDERS[str(session.python)], *group("test")]
    home = Path(".nox", f"blender-{session.python}").resolve()
    python = home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    made_with = home / "requirements.txt"
    if not made_with.is_file() or made_with.read_text().splitlines() != requirements:
        session.run("python", "-m", "venv", "--clear", "--without-pip", str(home))
        session.run("python", "-m", "pip", "--python", str(python), "install", "--quiet", *requirements)
        made_with.write_text("\n".join(requirements) + "\n")
    return str(python)


@nox.session(python=list(BLENDERS))
def lint(session: nox.Session) -> None:
    """ruff and pyright."""
    once(session)
    session.install(*group("lint"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("pyright")


@nox.session(python=list(BLENDERS))
def tests(session: nox.Session) -> None:
    """The tests, in both Blenders; long ones (in CI a sample) and those of the benchmarks in the newest.

    Arguments go to pytest.
    """
    newest = session.python == next(iter(BLENDERS))
    more = ["benchmarks"] if newest else ["-m", "not (newest or long)"]
    quick = ["tests", *more, "--ignore=tests/package", "--ignore=tests/window"]
    at_once = ["--numprocesses=auto", "--maxprocesses=4", "--dist=loadfile"]  # each process has its own Blender
    arguments = session.posargs or [*quick, *at_once]
    session.run(blender(session), "-m", "pytest", *arguments, external=True, env={"OPENBLAS_NUM_THREADS": "1"})


@nox.session(python=next(iter(BLENDERS)))
def canary(session: nox.Session) -> None:
    """The tests with the newest bpy and numpy of PyPI; where that needs another Python, `--force-python` names it.

    Arguments go to pytest. What fails here is mended in bridge/, before that Blender is out.
    """
    session.install("--upgrade", "--pre", "bpy", "numpy", *group("test"))
    session.run("python", "-c", "import bpy; print('Blender', bpy.app.version_string)")
    arguments = session.posargs or ["tests", "--ignore=tests/package", "--ignore=tests/window"]
    session.run("python", "-m", "pytest", *arguments, env={"OPENBLAS_NUM_THREADS": "1"})


@nox.session(python=list(BLENDERS))
def package(session: nox.Session) -> None:
    """Build dist/poise-VERSION.zip, check it, install it and run it, in both Blenders."""
    session.run(blender(session), "-m", "pytest", "tests/package", *session.posargs, external=True)


@nox.session(python=list(BLENDERS))
def window(session: nox.Session) -> None:
    """Mouse and keyboard in real Blender windows, two at a time; POISE_BLENDER names the program."""
    once(session)
    at_once = ["--numprocesses=2", "--dist=loadfile"]  # a person waits half of the time
    session.run(blender(session), "-m", "pytest", "tests/window", *at_once, *session.posargs, external=True)


@nox.session(python=list(BLENDERS))
def film(session: nox.Session) -> None:
    """Make the films and the tutorials' pictures of docs/images from tests/window; POISE_BLENDER names the program."""
    once(session)
    if "POISE_BLENDER" not in os.environ:
        session.error("POISE_BLENDER does not name a Blender program")
    pictures = ["-m", "pytest", "tests/window/test_film.py", "tests/window/test_tutorials.py", *session.posargs]
    session.run(blender(session), *pictures, external=True, env={"POISE_FILM": "1"})
    session.install(*group("film"))
    session.run("python", "docs/examples/film.py")


@nox.session(python=list(BLENDERS))
def docs(session: nox.Session) -> None:
    """Make the site, as static files, in build/site; a link, an anchor or a picture that is not there fails."""
    once(session)
    session.install(*group("docs"))
    session.run("python", "-m", "sphinx", "-W", "--keep-going", "-q", "-c", "docs", ".", "build/site", *session.posargs)


@nox.session(python=list(BLENDERS))
def examples(session: nox.Session) -> None:
    """Make three .blend files to begin with, and their pictures, in build/examples."""
    once(session)
    session.run(blender(session), "docs/examples/examples.py", *session.posargs, external=True)


@nox.session(python=list(BLENDERS))
def demo(session: nox.Session) -> None:
    """Make build/demo.blend with its report and picture."""
    once(session)
    session.run(blender(session), "docs/examples/demo.py", *session.posargs, external=True)


@nox.session(python=list(BLENDERS))
def poise(session: nox.Session) -> None:
    """Run a verb without Blender's program: `nox -s poise -- info --blend rig.blend --json`."""
    once(session)
    python, standalone = blender(session), str(Path("standalone.py").resolve())
    with session.chdir(session.invoked_from):
        session.run(python, standalone, *session.posargs, external=True)


@nox.session(python=list(BLENDERS))
def benchmarks(session: nox.Session) -> None:
    """Measure Poise, all of it, into build/benchmarks; with --peers beside all that PyPI and npm have."""
    once(session)
    python = blender(session)
    if "--peers" in session.posargs:
        session.install(*BLENDERS[str(session.python)], *group("peers"), *group("quality"))
        python = "python"
    session.run(python, "-m", "benchmarks.everything", *session.posargs, external=True)


@nox.session(python=list(BLENDERS))
def detection(session: nox.Session) -> None:
    """Print which parts of a body are found on which rig, with names and by shape alone."""
    once(session)
    session.run(blender(session), "-m", "benchmarks.detection", *session.posargs, external=True)


@nox.session(python=list(BLENDERS))
def tick(session: nox.Session) -> None:
    """Measure a tick of a drag inside both Blenders, beside their own IK constraints."""
    session.run(blender(session), "-m", "benchmarks.tick", *session.posargs, external=True)
