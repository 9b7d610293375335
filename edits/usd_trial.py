"""What a process of its own does with a USD file: `usd_trial.py CLIP FOLDER SECONDS SETTINGS`, in Python or Blender.

It imports the layer `retimed.usda` of the folder, then the file itself, and writes into `said.json` of the folder the
last frames of both, or what the importer says against it. After so many seconds it ends with 1.
"""

import faulthandler
import json
import sys
from pathlib import Path
from typing import Any

import bpy


def last_key(before: set[Any]) -> float:
    """Return the last frame of the actions that are new."""
    return max((action.frame_range[1] for action in bpy.data.actions if action not in before), default=0.0)


def main(clip: str, folder: str, seconds: str, settings: str) -> None:
    faulthandler.dump_traceback_later(float(seconds), exit=True)  # importers hold the lock that threads of Python need
    importer: Any = bpy.ops.wm
    chosen, found = json.loads(settings), list[float]()
    try:
        for path in (str(Path(folder, "retimed.usda")), clip):
            before = set(bpy.data.actions)
            importer.usd_import(filepath=path, **chosen)
            found.append(last_key(before))
        context: Any = bpy.context
        context.view_layer.update()
        said = json.dumps({"last": found})
    except RuntimeError as error:
        said = json.dumps({"refused": str(error)})
    Path(folder, "said.json").write_text(said, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[-4:])
