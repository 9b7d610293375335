"""Write the skeletons of benchmarks/data/bodies from Blender files: once; the benchmark itself needs no Blender.

    python -m benchmarks.quality.export_bodies     with a Python that has bpy, and ../shared/data beside the repository

Only rigs whose licence allows it are written (../shared/data/LICENSES.md). Roles are those of roles.json beside the
rigs. Numbers are rounded to 1e-7, far below what any solver is asked for.
"""

import json
import os
from typing import Any, Final

import numpy as np

from .bodies import BODIES

DIGITS: Final = 7
LICENCES: Final = {  # file among the rigs -> licence and notice
    "real/kaykit_mannequin/Med_General.glb": "CC0 1.0, Kay Lousberg (kaylousberg.com), edited by SketchpunkLabs (CC0)",
    "scripted/mpfb_mixamo.blend": "CC0 1.0, MakeHuman community",
    "scripted/named_unreal_apose.blend": "CC0 1.0, written for this project; bone names are facts",
}
NAMES: Final = {"kaykit": "real/kaykit_mannequin/Med_General.glb"} | {
    name: f"scripted/{name}.blend" for name in ("mpfb_mixamo", "named_unreal_apose")
}


def rounded(values: Any) -> list[float]:
    return [round(float(value), DIGITS) + 0.0 for value in np.ravel(values)]


def main() -> None:
    import standalone

    standalone.enable()
    from bridge import read_rig
    from tests.blender.rigs import load
    from tests.paths import SHARED

    roles = json.loads((SHARED / "rigs" / "roles.json").read_text())
    for name, file in NAMES.items():
        entry = roles[file]
        (armature,) = load(SHARED / "rigs" / file)
        skeleton = read_rig(armature).skeleton
        bones = [
            {
                "name": bone,
                "parent": skeleton.names[parent] if parent >= 0 else None,
                "offset": rounded(skeleton.offsets[i]),
                "rest": rounded(skeleton.rest_rotations[i]),
                "length": round(float(skeleton.lengths[i]), DIGITS),
            }
            for i, (bone, parent) in enumerate(zip(skeleton.names, skeleton.parents.tolist(), strict=True))
        ]
        kept = {key: entry[key] for key in ("facing", "up", "roles")}
        head = {"source": f"../shared/data/rigs/{file}", "licence": LICENCES[file], **kept}
        lines = ",\n".join("  " + json.dumps(bone) for bone in bones)
        text = json.dumps(head, indent=1)[:-2] + ',\n "bones": [\n' + lines + "\n ]\n}\n"
        json.loads(text)
        (BODIES / f"{name}.json").write_text(text)
        print(name, len(bones), "bones")


if __name__ == "__main__":
    main()
    os._exit(0)  # bpy as a module can hang in its exit handlers
