"""The zip against the rules of Blender's extensions platform.

The rules: "Extensions" in Blender's manual (manifest, internet access, local storage), and the guidelines of its
moderators in Blender's developer documentation ("Violations in Code").
"""

import ast
import re
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

DANGEROUS = {"eval", "exec", "compile", "__import__"}
REMOTE = {"urllib.request", "http", "ftplib", "smtplib", "xmlrpc", "socketserver", "pickle", "marshal", "shelve", "pip"}
IMAGES = (".png", ".webp", ".gif", ".jpg", ".svg", ".mp4")
REGISTERED = {  # what a registered class of Blender's type is called
    "Operator": "OT",
    "Panel": "PT",
    "Menu": "MT",
    "UIList": "UL",
    "PropertyGroup": "PG",
    "AddonPreferences": "AP",
    "KeyingSetInfo": "KS",
}


@pytest.fixture(scope="module")
def modules(package: Path) -> dict[str, ast.Module]:
    """Return the syntax trees of the zip's modules by path."""
    with zipfile.ZipFile(package) as zipped:
        return {name: ast.parse(zipped.read(name)) for name in zipped.namelist() if name.endswith(".py")}


@pytest.fixture(scope="module")
def manifest(package: Path) -> dict[str, Any]:
    with zipfile.ZipFile(package) as zipped:
        return tomllib.loads(zipped.read("blender_manifest.toml").decode())


def calls(modules: dict[str, ast.Module]) -> Iterator[tuple[str, ast.Call, str]]:
    """Yield file, call and the called thing as it is written, of all calls."""
    for name, tree in modules.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                yield f"{name}:{node.lineno}", node, ast.unparse(node.func)


def imported(modules: dict[str, ast.Module]) -> Iterator[tuple[str, str]]:
    """Yield file and full name of all imports from outside the extension."""
    for name, tree in modules.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                yield from ((name, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                yield from ((name, f"{node.module}.{alias.name}") for alias in node.names)


def test_no_text_becomes_code(modules: dict[str, ast.Module]) -> None:
    assert [place for place, _, called in calls(modules) if called in DANGEROUS] == []
    named = [  # handed on, to be called elsewhere
        f"{name}:{node.lineno}"
        for name, tree in modules.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id in DANGEROUS
    ]
    assert named == []


def test_no_source_is_read_and_nothing_is_downloaded_unpickled_or_installed(modules: dict[str, ast.Module]) -> None:
    found = [
        (file, name) for file, name in imported(modules) if any(f"{name}.".startswith(f"{bad}.") for bad in REMOTE)
    ]
    assert found == []
    sources = [
        place
        for place, _, called in calls(modules)
        if ("__file__" in called and re.search(r"\.(read_text|read_bytes|open)$", called))
        or called.startswith("inspect.")
    ]
    assert sources == []


def test_modules_are_imported_as_a_part_of_the_extension(modules: dict[str, ast.Module]) -> None:
    """No `sys.path`, no absolute import of an own module; the package has the name that Blender gave it."""
    own = {Path(name).parts[0].removesuffix(".py") for name in modules} - {"__init__"}
    assert [(file, name) for file, name in imported(modules) if name.split(".")[0] in own] == []
    texts = {name: ast.unparse(tree) for name, tree in modules.items()}
    assert [name for name, text in texts.items() if "sys.path" in text or "bl_ext." in text] == []


def test_nothing_is_written_into_the_folder_of_the_extension(modules: dict[str, ast.Module]) -> None:
    writes = re.compile(r"\.(write_text|write_bytes|mkdir|touch|unlink|rename|replace)$")
    assert [place for place, _, called in calls(modules) if "__file__" in called and writes.search(called)] == []


def test_whoever_opens_a_socket_or_names_a_scheduler_asks_for_online_access(modules: dict[str, ast.Module]) -> None:
    """Each module that can reach other machines is behind a function that asks; the refusal says how to allow it."""
    reaching = {
        name
        for name, tree in modules.items()
        if re.search(r"socket\.socket\(|distributed\.Client\(", ast.unparse(tree))
    }
    assert reaching == {"edits/receiver.py", "edits/processes.py"}
    asking = {"operators/listen.py", "commands/batch.py"}
    for name in asking:
        text = ast.unparse(modules[name])
        assert "bpy.app.online_access" in text
        assert "Preferences > System > Network" in text


def test_registered_classes_are_named_as_blender_names_them(modules: dict[str, ast.Module]) -> None:
    wrong = [
        f"{name}: {node.name}"
        for name, tree in modules.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for base in map(ast.unparse, node.bases)
        if base.startswith("bpy.types.") and (kind := REGISTERED.get(base.rpartition(".")[2]))
        if not re.fullmatch(rf"(POISE|VIEW3D|DOPESHEET|GRAPH)_{kind}_\w+", node.name)
    ]
    assert wrong == []


def test_the_zip_has_only_what_blender_uses(package: Path, modules: dict[str, ast.Module]) -> None:
    with zipfile.ZipFile(package) as zipped:
        sizes = {info.filename: info.file_size for info in zipped.infolist() if not info.is_dir()}
    assert [name for name in sizes if name.endswith((*IMAGES, ".schema.json", "README.md"))] == []
    assert "core/keypoints/weights/source.npz" not in sizes
    scripts = {name for name, tree in modules.items() if "__main__" in ast.unparse(tree)}
    assert scripts == {"core/formats/schema.py", "edits/usd_trial.py"}  # the second runs in a process of its own
    assert sum(sizes.values()) < 8_000_000


def test_the_manifest_keeps_to_the_platforms_lengths_and_names(manifest: dict[str, Any]) -> None:
    assert set(manifest) <= {
        "schema_version", "id", "version", "name", "tagline", "maintainer", "type", "blender_version_min", "license",
        "copyright", "website", "tags", "wheels", "permissions", "build",
    }  # fmt: skip
    assert len(manifest["tagline"]) <= 64
    assert manifest["tagline"][-1].isalnum()
    assert "blender" not in manifest["name"].lower()
    assert manifest["website"].startswith("https://")
    assert all(re.fullmatch(r"\d{4}(-\d{4})? \S.*", line) for line in manifest["copyright"])
    for reason in manifest["permissions"].values():
        assert len(reason) <= 64
        assert reason[-1].isalnum()


def test_the_manifest_asks_for_what_the_code_does_and_no_more(
    manifest: dict[str, Any], modules: dict[str, ast.Module]
) -> None:
    texts = "\n".join(map(ast.unparse, modules.values()))
    signs = {
        "files": r"\.write_text\(|\.write_bytes\(",
        "network": r"socket\.socket\(",
        "clipboard": r"\.clipboard\b",
        "camera": r"VideoCapture",
        "microphone": r"\baud\b",
    }
    assert {name for name, sign in signs.items() if re.search(sign, texts)} == set(manifest["permissions"])


def test_wheels_are_pure_and_their_licences_and_owners_are_named(package: Path, manifest: dict[str, Any]) -> None:
    with zipfile.ZipFile(package) as zipped:
        for wheel in manifest["wheels"]:
            assert wheel.endswith("-none-any.whl")
            with zipped.open(wheel.removeprefix("./")) as file, zipfile.ZipFile(file) as content:
                (licence,) = [name for name in content.namelist() if name.endswith("LICENSE")]
                (owner,) = re.findall(r"Copyright \(c\) (.*)", content.read(licence).decode())
            assert owner.strip() in manifest["copyright"]
