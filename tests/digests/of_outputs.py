"""Reads what verbs have written; a worker."""

from .told import begun, ended, read_file, tried

if __name__ == "__main__":
    _, file, folder, _ = begun()
    import standalone

    standalone.enable()
    import bpy

    found: dict[str, dict[str, str]] = {}
    for path in sorted(folder.rglob("*.blend")):
        name = str(path.relative_to(folder))
        said = tried(lambda: bpy.ops.wm.open_mainfile(filepath=str(path)))  # noqa: B023
        inner = name.partition("/")[2]
        found[name] = {f"{inner} {part}": text for part, text in {"opened": said, **read_file()}.items()}
    ended(file, found)
