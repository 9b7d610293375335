"""The one way through Poise, read from the imports: core calls nobody, bridge calls core, operators see both ends."""

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paths import ROOT

pytestmark = pytest.mark.newest  # text is the same for both

MANIFEST = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))

# Part of the extension -> the parts it may import, itself apart.
PARTS = {
    "__init__": {"registration"},
    "registration": {"commands", "edits", "keymaps", "languages", "operators", "panels", "preferences", "properties"},
    "operators": {"bridge", "core", "edits", "languages", "overlay", "preferences", "properties"},
    "commands": {"bridge", "core", "edits", "properties"},
    "edits": {"bridge", "core", "properties"},
    "panels": {"bridge", "keymaps", "languages", "preferences", "properties"},
    "keymaps": set[str](),
    "preferences": {"keymaps", "properties"},
    "properties": set[str](),
    "languages": set[str](),
    "overlay": {"core", "languages", "preferences"},
    "bridge": {"core"},
    "core": set[str](),
}
# What the zip has of PyPI, for core to read files with.
WHEELS = {Path(wheel).name.partition("-")[0] for wheel in MANIFEST["wheels"]}
# What comes with Blender; core and the root, which tools import without Blender, have to do without.
BLENDER = {"bl_operators", "bl_ui", "blf", "bpy", "bpy_extras", "gpu", "gpu_extras", "mathutils", "rna_keymap_ui"}
# What users may have beside: Dask, for `batch` on a cluster.
CLUSTER = {"distributed"}
CLUSTERED = ("edits", "processes")  # which alone imports it
# The rooms of core from the lowest: each imports only those before it. The files beside them know `limits` alone.
ROOMS = ("limits", "body", "solvers", "contribution", "editing", "generate", "keypoints", "formats")
# The files and folders of the pins solver from the lowest: data, steps, stages, and a drag on top.
PINS = (
    "numbers", "strengths", "tree", "prior", "limits", "goals", "settings", "problem", "progress",
    "one_frame", "many_frames", "starts", "pipeline", "drag", "explain", "__init__",
)  # fmt: skip


def imports(source: str, module: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """(line, absolute dotted name) of each import in the source of `module`, e.g. ("bridge", "armature").

    Parts of Poise are named from its root: `from ..core import pose` in bridge/armature.py is "poise.core".
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.lineno, node.module or ""
        elif isinstance(node, ast.ImportFrom):
            above = ("poise", *module)[: len(module) + 1 - node.level]
            names = [node.module] if node.module else [name.name for name in node.names]
            yield from ((node.lineno, ".".join((*above, name))) for name in names)
        elif isinstance(node, ast.Call) and called(node) in ("import_module", "__import__"):
            name = node.args[0] if node.args else None
            yield node.lineno, str(name.value) if isinstance(name, ast.Constant) else "a computed name"


def called(node: ast.Call) -> str:
    """The last name of what is called, "import_module" for `importlib.import_module(...)`."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def violations(source: str, module: tuple[str, ...]) -> list[str]:
    """What the source of one module imports against the rules, as `line N: NAME`."""
    part = module[0]
    own = {f"poise.{other}" for other in {part} | PARTS[part]}
    needs = {"core": WHEELS, "__init__": set[str]()}.get(part, BLENDER)
    foreign = set(sys.stdlib_module_names) | {"numpy"} | needs | (CLUSTER if module == CLUSTERED else set[str]())

    def allowed(name: str) -> bool:
        head, _, rest = name.partition(".")
        return f"poise.{rest.partition('.')[0]}" in own if head == "poise" else head in foreign

    return [f"line {line}: {name}" for line, name in imports(source, module) if not allowed(name)]


def operators_named(source: str) -> list[str]:
    """Where the source reaches for one of Poise's operators or other classes that Blender has registered."""
    found: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and (node.attr == "poise" or node.attr.startswith("POISE_")):
            found.append((node.lineno, node.attr))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "POISE_OT_" in node.value:
            found.append((node.lineno, node.value))
        elif isinstance(node, ast.ImportFrom) and node.module in ("bpy.ops", "bpy.types"):
            found += [(node.lineno, name.name) for name in node.names if name.name.startswith(("poise", "POISE_"))]
        elif isinstance(node, ast.Call) and called(node) == "getattr":
            name = ast.unparse(node.args[1])
            if name == "'poise'" or ("POISE_" in name and "POISE_OT_" not in name):
                found.append((node.lineno, name))
    return [f"line {line}: {name}" for line, name in sorted(found)]


def modules() -> list[tuple[str, ...]]:
    """The modules that ship, as their path from the root without `.py`."""
    files = [ROOT / f"{part}.py" for part in PARTS] + [file for part in PARTS for file in (ROOT / part).rglob("*.py")]
    return sorted(file.relative_to(ROOT).with_suffix("").parts for file in files if file.is_file())


@pytest.mark.parametrize("module", modules(), ids="/".join)
def test_imports_go_one_way(module: tuple[str, ...]) -> None:
    source = ROOT.joinpath(*module).with_suffix(".py").read_text(encoding="utf-8")
    assert violations(source, module) == []


@pytest.mark.parametrize("module", [module for module in modules() if module[0] != "operators"], ids="/".join)
def test_nothing_but_operators_calls_an_operator(module: tuple[str, ...]) -> None:
    assert operators_named(ROOT.joinpath(*module).with_suffix(".py").read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("module", [module for module in modules() if module[0] == "core"], ids="/".join)
def test_the_rooms_of_core_have_an_order(module: tuple[str, ...]) -> None:
    source = ROOT.joinpath(*module).with_suffix(".py").read_text(encoding="utf-8")
    assert upper_rooms(source, module) == []


def upper_rooms(source: str, module: tuple[str, ...]) -> list[str]:
    """What of the rooms above its own a module of core imports, also by what `core` itself shows of them."""
    if module == ("core", "__init__") or module[1] == ROOMS[-1]:
        return []
    room = module[1] if module[1] in ROOMS else ROOMS[0]
    known = {path.stem for path in (ROOT / "core").iterdir()} - {*ROOMS[ROOMS.index(room) + 1 :]}
    found = {name.split(".")[2] for _, name in imports(source, module) if name.startswith("poise.core.")}
    return sorted(found - known)


@pytest.mark.parametrize(
    "module", [module for module in modules() if module[:3] == ("core", "solvers", "pins")], ids="/".join
)
def test_the_files_of_the_pins_solver_have_an_order(module: tuple[str, ...]) -> None:
    source = ROOT.joinpath(*module).with_suffix(".py").read_text(encoding="utf-8")
    assert upper_files(source, module) == []


def upper_files(source: str, module: tuple[str, ...]) -> list[str]:
    """What of the pins solver above its own file or folder a module of it imports."""
    start = "poise.core.solvers.pins."
    found = {name.removeprefix(start).split(".")[0] for _, name in imports(source, module) if name.startswith(start)}
    return sorted(found - {*PINS[: PINS.index(module[3]) + 1]})


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("core/solvers/pins/tree", "from . import numbers, problem"),
        ("core/solvers/pins/problem", "from .drag import Drag"),
        ("core/solvers/pins/goals/rows", "from ..problem import Problem"),
        ("core/solvers/pins/one_frame/steps", "if TYPE_CHECKING:\n    from ..pipeline import State"),
    ],
)
def test_an_import_of_an_upper_file_is_found(module: str, source: str) -> None:
    assert len(upper_files(source, tuple(module.split("/")))) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("core/solvers/pins/tree", "from ...formats.job import Job"),
        ("core/solvers/pins/tree", "from ... import formats"),
        ("core/body/roles", "from ..keypoints import Character"),
        ("core/editing/path", "from ..formats import table"),
        ("core/editing/retarget", "from ..generate import poses"),
        ("core/body/anatomy", "from ..solvers import PinAndDrag"),
        ("core/body/anatomy", "from .. import PinAndDrag"),
        ("core/body/detection/tree", "from ...solvers.pins import numbers"),
        ("core/skeleton", "from .body import Roles"),
    ],
)
def test_an_import_of_an_upper_room_is_found(module: str, source: str) -> None:
    assert len(upper_rooms(source, tuple(module.split("/")))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "bpy.ops.poise.tune_chain(chain=1)",
        "from bpy.ops import poise",
        "from bpy.types import POISE_OT_drag",
        'getattr(bpy.ops, "poise").drag()',
        "operators: Any = bpy.ops\ngetattr(operators.poise, name)",
        "kind = bpy.types.POISE_OT_drag",
        'kind = getattr(bpy.types, f"POISE_OT_{name}")',
        'kind = getattr(bpy.types, "POISE_PT_pins")',
    ],
)
def test_a_call_of_an_operator_is_found(source: str) -> None:
    assert len(operators_named(source)) == 1


def test_a_panel_may_draw_a_button() -> None:
    assert operators_named('class POISE_PT_pins:\n    def draw(self):\n        layout.operator("poise.pin")') == []


def test_every_folder_that_ships_has_its_rule() -> None:
    packages = {file.parent.name for file in ROOT.glob("*/__init__.py")}
    assert packages - {"benchmarks"} <= PARTS.keys()


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("core/pose", "import bpy"),
        ("core/pose", "def late():\n    from mathutils import Vector"),
        ("core/pose", "import scipy.linalg"),
        ("core/solvers/pins", "from ...bridge import armature"),
        ("core/solvers/__init__", "from ... import bridge"),
        ("bridge/armature", "from ..operators.pin import POISE_OT_pin"),
        ("bridge/armature", "from core import Skeleton"),  # works in the tests, fails in the installed extension
        ("panels/pins", "from ..core.solvers import solve"),
        ("commands/__init__", "from ..operators import pin"),
        ("edits/drag/session", "from ...operators.pins import PinsTool"),
        ("edits/solve", "from ..commands import batch"),
        ("operators/bake", "from ..commands import batch"),
        ("operators/bake", "from ..panels import pins"),
        ("properties/ccd", "from ..edits.chains import tune"),
        ("core/formats/job", "from ...edits import solve"),
        ("__init__", "import bpy"),
        ("core/pose", '__import__("bpy")'),
        ("edits/solve", 'import_module(f"{ROOT}.operators")'),
        ("edits/solve", 'import_module("distributed")'),
        ("commands/batch", "import distributed"),
    ],
)
def test_a_forbidden_import_is_found(module: str, source: str) -> None:
    assert len(violations(source, tuple(module.split("/")))) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("core/solvers/pins", "import numpy as np\nfrom ..pose import Pose\nfrom . import limb\nimport math"),
        ("core/__init__", "from .pose import Pose"),
        ("bridge/armature", "import bpy\nfrom ..core import Skeleton\nfrom .keys import write"),
        ("operators/pin", "from .. import bridge\nfrom ..overlay import draw\nfrom ..core.solvers import pins"),
        ("operators/bake", "from ..edits.pins import job_from_pins"),
        ("commands/verbs", "from ..edits.solve import perform"),
        ("edits/chains", "from ..core.formats.chain_list import NUMBERS\nfrom ..properties import ccd"),
        ("registration", "from . import operators, panels"),
        ("__init__", "def register():\n    from . import registration"),
    ],
)
def test_an_allowed_import_is_let_through(module: str, source: str) -> None:
    assert violations(source, tuple(module.split("/"))) == []
