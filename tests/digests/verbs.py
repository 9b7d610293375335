"""Runs of `python standalone.py`: the words of each, and the files that they read.

{in} is the folder of `FILES`, {out} that of the case, {walk} the walk on a body that the first case makes, and {data}
../shared/data; other paths are of the checkout.
"""

import json
import shlex
from typing import Any, Final

WALK: Final = "walk"
POINTS: Final = "docs/examples/walk_keypoints.jsonl"
SHORT: Final = {
    "$body": "tests/data/rigs/named_mixamo_cm.blend",
    "$rig": "tests/data/rigs/odd_",
    "$clip": "tests/data/motion/cmu_07_12.bvh",
    "$points": POINTS,
    "$made": "{data}/rigs/scripted/",
    "$place": "--output {out}/o.blend --report {out}/r.json",
    "$walk": "--blend {walk} --output {out}/o.blend --report {out}/r.json",
    "$arm": "contribute --chain mixamorig:RightArm:mixamorig:RightHand",
    "$few": "--frames 1 12",
}

FEET: Final = [{"role": f"foot.{side}", "pin": ["position", "rotation"]} for side in "LR"]
HAND: Final = {"role": "hand.R", "position": {"path": [[3, 0.15, 1.85, 1.2], [8, 0.2, 1.3, 1.3]]}}
THERE: Final = {"role": "hand.R", "position": [-0.4, -0.4, 1.3]}
FAR: Final = {"role": "hand.L", "position": [2.0, 1.0, 3.0], "priority": 1}
OTHER: Final = "mixamorig:RightHand"
BESIDE: Final = {"role": "hand.L", "pin": ["position", "rotation"], "relative_to": OTHER}
APART: Final = {"role": "hand.L", "distance": 0.3, "to": OTHER, "bound": "at most"}
LOOK: Final = {"role": "head", "look_at": [0.5, -2.0, 1.2], "axis": "Z", "ease": 1}
HIGH: Final = {"role": "hand.L", "position": [0, 0, 1.6], "axes": [0, 0, 1], "point": "tail"}
ARM: Final = [
    {"bone": f"mixamorig:Right{bone}", "axis": axis, "fraction": 0.4, "angle": 8}
    for bone in ("ForeArm", "Arm")
    for axis in "XZY"
]
LED: Final = {"pull": {"hand.R": 0.5}, "reach": 0.8, "resist": {"spine": 0.7}, "swivel": {"arm.R": 30}}
OVER: Final = {"supports": ["mixamorig:LeftFoot"], "radius": 0.05, "priority": 1}
BODY: Final = {"name": "humanoid"}
CCD: Final = {"name": "ccd", "list": ARM}

# Jobs on the walk, in frames 3 to 8 unless they say otherwise.
JOBS: Final[dict[str, dict[str, Any]]] = {
    "hand": {"goals": [*FEET, HAND]},
    "far": {"goals": [*FEET, FAR]},
    "hold": {"goals": [*FEET, HAND], "root": "hold"},
    "pull": {"goals": [*FEET, FAR, HAND], "root": "pull", "limits": "soft"},
    "translate": {"goals": [*FEET, HAND], "root": "translate", "anatomical_limits": False},
    "fixed": {"goals": [HAND], "root": "fixed", "limits": False, "stretch": True},
    "drag": {"goals": [*FEET, HAND], "method": {"name": "pins", "wins": "drag"}},
    "rest": {"goals": [*FEET, HAND], "joint_targets": "rest", "stiffness": {"mixamorig:Spine1": 0.8}},
    "relaxed": {"goals": [*FEET, HAND], "joint_targets": "relaxed"},
    "balance": {"goals": [*FEET, HAND], "balance": True},
    "supports": {"goals": [FEET[0], HAND], "balance": OVER},
    "look": {"goals": [*FEET, LOOK]},
    "relative": {"goals": [*FEET, HAND, BESIDE]},
    "distance": {"goals": [*FEET, APART]},
    "axes": {"goals": [*FEET, HIGH]},
    "turned": {
        "goals": [{"role": "head", "rotation": [0.9, 0.1, 0.4, 0.1], "weight": 0.5}, *FEET],
        "space": "armature",
    },
    "at": {"goals": [{**FEET[0], "at": 6, "frames": [4, 8], "ease": 1}, HAND], "write": {"action": "mine"}},
    "humanoid": {"goals": [*FEET, HAND, FAR], "method": BODY},
    "humanoid_led": {"goals": [*FEET, HAND], "method": BODY | LED},
    "humanoid_look": {"goals": [*FEET, LOOK], "method": BODY},
    "ccd": {"goals": [HAND], "method": CCD | {"base": "mixamorig:RightArm", "passes": 2}},
    "ccd_time": {"goals": [HAND], "method": CCD | {"successive": True, "mode": "mixed"}},
    "present": {"goals": [*FEET, {**THERE, "position": [-0.6, -0.2, 0.6]}], "frames": None, "write": {"key": True}},
    "bones": {"goals": [HAND], "write": {"bones": ["mixamorig:RightArm", "mixamorig:RightForeArm"]}},
    "roles": {"goals": [HAND], "roles": {"hand.R": "mixamorig:RightHandIndex1"}},
    "reach": {"goals": [THERE], "frames": [1, 1]},
}
WRONG: Final[dict[str, Any]] = {
    "no_goals": {"goals": []},
    "version": {"version": 3, "goals": [HAND]},
    "misspelt": {"goals": [{"bone": "x", "positon": [0, 0, 0]}]},
    "no_bone": {"goals": [{"bone": "mixamorig:LeftHnad", "position": [0, 0, 0]}]},
    "no_object": [1, 2],
    "backwards": {"goals": [HAND], "frames": [9, 2]},
    "ease": {"goals": [{**HAND, "ease": 40}]},
    "large": {"goals": [{**HAND, "position": [0, 1e300, 0]}]},
    "root": {"goals": [HAND], "root": "loose"},
    "ccd_two": {"goals": [HAND, FAR], "method": CCD},
    "role": {"goals": [{**HAND, "role": "tail"}]},
    "method": {"goals": [HAND], "method": {"name": "magic"}},
    "object": {"goals": [{**HAND, "position": {"object": "Cup"}}]},
    "armature": {"goals": [HAND], "armature": "Nobody"},
    "stiffness": {"goals": [HAND], "stiffness": {"a": 2}},
    "action": {"goals": [HAND], "write": {"action": "a" * 99}},
}
TRACKS: Final = [
    {"parts": ["arm.L"], "samples": [0, 1, 0.3], "weights": [1, 5, 1], "width": 0.2},
    {"parts": "all", "samples": [[0, 1], [0.4, 0]], "gamma": 0.5},
]
STANDS: Final = [{"role": "foot.L", "seconds": [0, 0.2], "at": 0.1}]
THROWN: Final = {"samples": [[0, 0, 0, 0], [0.25, 0, 0.2, 0.1], [0.5, 0, 0.4, 0]]}
RAISED: Final = {"min": {}, "max": {"upper_arm": [-80, 0, 0]}}
KEYED: Final = {"min": {"frame": 2}, "max": {"frame": 20}}
RECIPES: Final[dict[str, dict[str, Any]]] = {
    "throw": {"seconds": 0.5, "poses": RAISED, "path": THROWN, "flights": [[0.1, 0.4]]},
    "frames": {"seconds": 0.4, "poses": KEYED, "tracks": TRACKS, "supports": STANDS},
    "no_poses": {"seconds": 1.0},
    "no_part": {"seconds": 1.0, "poses": {"min": {"wing": [0, 0, 0]}, "max": {}}},
    "no_samples": {"seconds": 1.0, "poses": RAISED, "tracks": [{"parts": "all", "samples": []}]},
}


def _file(data: Any, **common: Any) -> str:
    """JSON of version 1; what is None is left out."""
    if not isinstance(data, dict):
        return json.dumps(data)
    return json.dumps({name: value for name, value in ({"version": 1} | common | data).items() if value is not None})


FILES: Final = {
    **{f"jobs/{name}.json": _file(job, frames=[3, 8]) for name, job in JOBS.items()},
    **{f"wrong/{name}.json": _file(job, frames=[3, 8]) for name, job in WRONG.items()},
    **{f"recipes/{name}.json": _file(recipe) for name, recipe in RECIPES.items()},
    "wrong/text.json": "{'version': 1}",
    "wrong/twice.json": '{"version": 1, "version": 1}',
    "list.json": json.dumps({"list": ARM, "passes": 2}),
    "no_list.json": json.dumps({"list": [{"bone": "x", "axis": "W"}]}),
    "options.json": json.dumps({"frames": [1, 6]}),
    "no_options.json": json.dumps({"colour": "red"}),
    "mapping.json": _file({"roles": {"wing.L": "x"}}),
    "points.json": json.dumps([[[0, 0, 0]] * 5]),
    "clips/readme.txt": "no clip",
}

TABLE: Final = """
walk: retarget --motion $clip --blend $body --output {out}/walk.blend --report {out}/r.json
info clip: info --blend $clip --json
info walk: info --blend {walk} --json {out}/i.json
solve on constraints: solve --job {in}/jobs/reach.json --blend $rigconstraints_locks_driver.blend $place
solve on flags: solve --job {in}/jobs/reach.json --blend $riginherit_flags.blend $place
solve on nonuniform: solve --job {in}/jobs/reach.json --blend $rigobject_nonuniform_rotated.blend $place
solve on rolls: solve --job {in}/jobs/reach.json --blend $rigrandom_rolls_apose.blend $place --json
solve on mmd: solve --job {in}/jobs/reach.json --blend $madenamed_mmd_japanese.blend $place
contribute list: $arm --list {in}/list.json --job {in}/jobs/bones.json $walk
contribute preset: $arm --preset arm --job {in}/jobs/bones.json $walk --json
contribute learn: $arm --learn {out}/l.json --blend {walk} --frames 1 4 --json
generate wave: generate --recipe wave.json --blend $body $place --start 5
generate jump: generate --recipe jump.json --blend $rigrandom_rolls_apose.blend $place --tolerance 0.01 --action up
generate throw: generate --recipe {in}/recipes/throw.json $walk
generate frames: generate --recipe {in}/recipes/frames.json $walk --json
body t-pose: body --tool t-pose --blend $body $place
body relaxed: body --tool relaxed --blend $rigobject_nonuniform_rotated.blend $place
body rest: body --tool rest --key $walk
body a-pose: body --tool a-pose --set arms=40 --key $walk
body mirror: body --tool mirror $few $walk --json
body feet: body --tool feet --set roll=20 side=L height=0.05 --frames 3 5 $walk
body hands: body --tool hands --set height=0.7 --frames 3 4 $walk
body fingers: body --tool fingers --set close=0.6 spread=0.3 --key $walk
body look-at: body --tool look-at --key $walk
body on rigify: body --tool a-pose --blend $maderigify_generated_human.blend --armature rig $place
lock-feet: lock-feet $walk --json
lock-feet hands: lock-feet --points feet hands --ease 0.1 --frames 20 40 $walk
lock-feet clip: lock-feet --blend $clip --frames 10 40 $place
retarget no feet: retarget --motion $clip --blend $rigrandom_rolls_apose.blend --no-feet $few $place
retarget on mmd: retarget --motion $clip --blend $madenamed_mmd_japanese.blend --frames 1 3 $place
retarget gltf: retarget --motion {data}/rigs/real/cesium_man.gltf --blend $body $place
edit-path bend: edit-path --bend 60 --scale 1.2 --frames 1 30 $walk
edit-path offset: edit-path --offset 0.2 -0.1 0 --frames 6 12 --ease 0.1 --no-feet $walk
reduce-keys: reduce-keys --tolerance 0.005 --frames 1 24 $walk --json
reduce-keys all: reduce-keys --bones all --tolerance 0.01 --action less $few $walk
bake: bake $walk
bake some: bake --step 3 --bones mixamorig:Hips mixamorig:Head $few $walk
bake visual: bake --visual --mute --present $few --blend $clip $place
keypoints corrected: keypoints --input $points --blend $body $place --json
keypoints closed: keypoints --input $points --method closed --blend $rigobject_nonuniform_rotated.blend $place
keypoints source: keypoints --input {in}/few.jsonl --method source --blend $body $place
keypoints swing: keypoints --input {in}/few.jsonl --method swing --blend $body $place
keypoints raw: keypoints --input {in}/few.jsonl --raw --no-lock --no-limits --travel feet --start 4 --blend $body $place
keypoints figure: keypoints --input $clip --noise 5 --fps 24 --blend $body $place
keypoints exact: keypoints --input {in}/few.jsonl --exact --blend $body $place --json
batch: batch --input tests/data/motion --verb bake --job {in}/options.json --output {out} --jobs 1
batch retarget: batch --input tests/data/motion --verb retarget --job {in}/options.json --blend $body --output {out} \
    --jobs 1 --json {out}/summary.json
refused text: solve --job {in}/wrong/text.json $walk
refused twice: solve --job {in}/wrong/twice.json $walk
refused missing: solve --job {in}/wrong/none.json $walk
refused list: $arm --list {in}/no_list.json --job {in}/jobs/bones.json $walk
refused chain: contribute --chain nobody --preset arm --job {in}/jobs/bones.json $walk
refused two: $arm --preset arm --job {in}/jobs/ccd.json $walk
refused leads: $arm --preset arm --job {in}/jobs/hand.json $walk
refused output: solve --job {in}/jobs/hand.json --blend {walk} --output {walk}
refused ending: bake --blend {walk} --output {out}/o.txt
refused file: info --blend {in}/none.blend
refused no blend: info --blend {in}/list.json
refused nothing:
refused verb: dance
refused option: info --colour red
refused tool: body --tool feet --set size=3 $walk
refused value: body --tool feet --set roll=much $walk
refused lost: body --tool t-pose --blend {walk}
refused points: lock-feet --points wing $walk
refused still: lock-feet --blend $body $place
refused ease: lock-feet --ease -1 $walk
refused tolerance: reduce-keys --tolerance 0 $walk
refused step: bake --step 0 $walk
refused frames: bake --frames 9 2 $walk
refused bones: bake --bones Nobody $walk
edit-path back: edit-path --scale -1 $walk
refused motion: retarget --motion {in}/list.json --blend $body $place
refused take: retarget --motion $clip --take Other --blend $body $place
refused layout: keypoints --input {in}/points.json --layout coco17 --blend $body $place
refused mapping: keypoints --input $clip --mapping {in}/mapping.json --blend $body $place
refused fps: keypoints --input $points --fps 0 --blend $body $place
refused batch: batch --input tests/data/motion --verb bake --job {in}/no_options.json --output {out}
refused folder: batch --input {in}/none --verb bake --output {out}
help: --help
help solve: solve --help
"""
LISTED: Final = (
    *(("$body", rig) for rig in ("named_mixamo_cm",)),
    *((f"$rig{rig}.blend", rig) for rig in ("constraints_locks_driver", "inherit_flags", "random_rolls_apose")),
    *((f"$made{rig}.blend", rig) for rig in ("rigify_generated_human", "rigify_generated_wolf", "odd_inline_twist")),
    *(
        (f"$made{rig}.blend", rig)
        for rig in ("named_mmd_japanese", "creature_four_arms_tail_wings", "creature_spider8")
    ),
)


def cases() -> dict[str, tuple[str, ...]]:
    """All runs by name."""
    lines = (line.partition(":") for line in TABLE.strip().splitlines())
    table = {name: words for name, _, words in lines}
    table |= {f"solve {name}": f"solve --job {{in}}/jobs/{name}.json $walk --json" for name in JOBS if name != "reach"}
    table |= {f"refused {name}": f"solve --job {{in}}/wrong/{name}.json $walk" for name in WRONG}
    table |= {
        f"refused {name}": f"generate --recipe {{in}}/recipes/{name}.json $walk"
        for name in RECIPES
        if name[:3] == "no_"
    }
    table |= {f"info {rig}": f"info --blend {path} --json" for path, rig in LISTED}
    for old in sorted(SHORT, key=len)[::-1]:
        table = {name: words.replace(old, SHORT[old]) for name, words in table.items()}
    return {name: tuple(shlex.split(words)) for name, words in table.items()}


CASES: Final = cases()
