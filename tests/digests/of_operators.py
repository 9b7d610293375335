"""The tools in Blender, `bpy.ops.poise`, on rigs of the test data: what they report, pose, key and save; a worker."""

import ast
import json
from collections.abc import Iterable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, Final

from .told import begun, ended, read_file, shortened

PART, FILE, FOLDER, DATA = begun()

import standalone  # noqa: E402  (of the checkout that this runs in)

standalone.enable()

import bpy  # noqa: E402

context: Any = bpy.context  # the stubs take its members for methods
tools: Any = bpy.ops
RIGS: Final = Path("tests/data/rigs").resolve()
CLIP: Final = str(Path("tests/data/motion/cmu_07_12.bvh").resolve())
POINTS: Final = str(Path("docs/examples/walk_keypoints.jsonl").resolve())
BODY: Final = RIGS / "named_mixamo_cm.blend"
ALL: Final = [BODY, *(RIGS / f"odd_{name}.blend" for name in (
    "constraints_locks_driver", "inherit_flags", "object_nonuniform_rotated", "random_rolls_apose"))]  # fmt: skip
SHARED: Final = [DATA / "rigs" / "scripted" / f"{name}.blend" for name in (
    "rigify_generated_human", "named_mmd_japanese")] if DATA else []  # fmt: skip

TOLD: Final = ("Info:", "Warning:", "Error:", "RuntimeError:", "TypeError:", "{")
# Steps: a tool of Poise with its settings, or what a person does beside: "select", "put" (settings of the armature,
# without their "poise_") and "frame". "@hand.L" is the bone that plays that part, or what is keyed for it.
BODY_TOOLS: Final = """
take_posture posture=T; take_posture posture=A; take_posture posture=RELAXED; take_posture posture=A arms=0.3
drag bone=@hand.L shift=(-0.2,-0.3,0.1); mirror_pose; mirror_pose model=L; plant_feet
plant_feet side=L roll=0.4 height=0.1; lay_hands height=0.8; pose_fingers close=0.7 spread=0.4
pose_fingers side=R close=0.2; look_at; look_at head=0.5; look_at target=OBJECT object=Nobody
take_posture posture=REST; make_rest
"""
PINS: Final = """
solve; select @foot.L @foot.R; pin; select @hand.L; pin kind=POSITION; drag bone=@hips shift=(0.05,-0.1,-0.15)
drag bone=@hand.R shift=(-0.1,-0.4,0.3) wins=DRAG; drag bone=@head turn=(0.2,0.6,0.0) pin=BOTH; mirror_pins
solve; cycle_pin; select @hand.L @head; unpin; bake frame_start=1 frame_end=5; clear_pins; drag bone=Nobody
drag object=Nobody; select @head; pin space=OBJECT; select; pin
"""
SETTINGS: Final = """
select @foot.L @foot.R; pin; select @hand.L; pin kind=POSITION; put root=FREE limits=SOFT
drag bone=@hips shift=(0.2,0.0,0.1); solve; put root=PULL balance=PINS use_stretch=True
drag bone=@hand.R shift=(0.1,0.2,0.3); put root=FIXED use_anatomy_limits=False balance=OFF
drag bone=@foot.R shift=(0.0,-0.2,0.2); put method=HUMANOID root=HOLD pull_hand_r=0.5 reach=0.9
drag bone=@hand.R shift=(0.0,-0.3,0.4); solve; put method=PINS; drag bone=@hand.R shift=(0.0,-2.0,2.0) wins=PINS
"""
CHAINS: Final = """
select @upper_arm.L; add_chain; select @shoulder.L @hand.L; add_chain; add_chain
drag bone=@hand.L shift=(-0.15,-0.2,0.2); reset_list preset=TENTACLE; select @forearm.L; add_joint
move_joint direction=UP; remove_joint; drag bone=@hand.L shift=(0.1,-0.1,-0.3); select @hand.R @hips; add_chain
drag bone=@hips shift=(0.1,0.1,-0.2); remove_chain; export_list filepath={out}/list.json
import_list filepath={out}/list.json; import_list filepath=none.json; learn_list
"""
MOTION: Final = """
find_contacts; retarget; retarget filepath=none.bvh; retarget filepath={clip}; find_contacts; solve_motion; frame 30
select @hand.R; drag bone=@hand.R shift=(0.0,-0.2,0.2); add_timed_pin held=PLACE ease=4; solve_motion
give_motion_back; remove_timed_pin; solve_motion; keep_motion; edit_path bend=0.5 scale=1.1
edit_path offset=(0.1,0.2,0.0) frame_start=8 frame_end=16 plant=False; bake_motion step=2 action=PRESENT
reduce_keys tolerance=0.02; reduce_keys tolerance=0.03 bones=ALL action=PRESENT frame_start=3 frame_end=14
bake_motion visual=True frame_start=9 frame_end=4; select @upper_arm.L @forearm.L; learn_limits; learn_stiffness
drag bone=@hand.L shift=(0.2,0.2,0.6); forget_limits; forget_stiffness; forget_limits
import_keypoints filepath={points}; import_keypoints filepath={clip} layout=coco17
"""
GENERATE: Final = """
generate recipe=own; store_pose pose=MIN; take_posture posture=RELAXED; drag bone=@hand.R shift=(0.1,-0.3,0.5)
store_pose pose=MAX; generate recipe=own seconds=0.5 start=3; frame 8; select @upper_arm.R; add_track part=SELECTED
regenerate; weigh_samples; add_sample; add_phase part=foot.L start=3 end=6; regenerate; remove_phase; remove_phase
remove_track; generate recipe=jump start=1; generate recipe=wave keys=REDUCED tolerance=0.02
store_pose source=ACTION action=Nobody
"""
ROLES: Final = """
survey; select @hand.L; set_role role=forearm.L; set_role role=none; swap_sides; clear_roles
export_roles filepath={out}/roles.json; import_roles filepath={out}/roles.json; import_roles filepath=none.json
show_part role=hand.L; use_preset filepath=none.py; pin; goto_pin bone=@hand.L; pin_space; mirror_pins
"""
WITH: Final = {
    "body": (BODY_TOOLS, [*ALL, *SHARED]),
    "pins": (PINS, [*ALL, *SHARED[1:]]),
    "settings": (SETTINGS, [ALL[0], ALL[4]]),
    "chains": (CHAINS, ALL[:3]),
    "motion": (MOTION, [ALL[0], ALL[4]]),
    "generate": (GENERATE, [ALL[0], ALL[3]]),
    "roles": (ROLES, [ALL[0], *SHARED[:1]]),
}


def look(path: Path) -> tuple[str, dict[str, str]]:
    """Open a file; the armature with most bones, and which bone is to be keyed for each part, as `info` says."""
    said = StringIO()
    with redirect_stdout(said):
        standalone.main(["info", "--blend", str(path), "--json"])
    entries = json.loads(next(line for line in said.getvalue().splitlines() if line.startswith("{")))["armatures"]
    entry = max(entries, key=lambda one: len(one["bones"]))
    bones = {**entry["roles"], **entry.get("controls", {})}
    return entry["name"], {part: bone if isinstance(bone, str) else bone[-1] for part, bone in bones.items() if bone}


def choose(object: Any, bones: Iterable[str]) -> None:
    """Select bones, the last one active."""
    names = list(bones)
    for bone in object.pose.bones:
        owner = bone if hasattr(bone, "select") else bone.bone  # Blender 4.5 has it on the bone
        owner.select = bone.name in names
    object.data.bones.active = object.data.bones[names[-1]] if names else None


def value_of(text: str, parts: dict[str, str]) -> Any:
    """What a setting says; a part is its bone."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        text = text.replace("{out}", str(FOLDER)).replace("{clip}", CLIP).replace("{points}", POINTS)
        return parts.get(text[1:], text) if text[0] == "@" else text


def act(object: Any, parts: dict[str, str], step: str) -> str:
    """Do a step; what is reported."""
    name, *words = step.split()
    said = StringIO()
    try:
        with redirect_stdout(said):
            if name == "select":
                choose(object, [parts[word[1:]] for word in words if word[1:] in parts])
            elif name == "frame":
                context.scene.frame_set(int(words[0]))
            else:
                pairs = (word.split("=", 1) for word in words)
                settings = {key: value_of(text, parts) for key, text in pairs}
                if name == "put":
                    for key, value in settings.items():
                        setattr(object, f"poise_{key}", value)
                else:
                    said.write(repr(getattr(tools.poise, name)(**settings)))
    except (RuntimeError, TypeError, AttributeError) as error:
        said.write(f"{type(error).__name__}: {error}")
    lines = said.getvalue().replace(str(FOLDER), "...").replace(str(Path.cwd()), "...").splitlines()
    first = next((number for number, line in enumerate(lines) if line.startswith(TOLD)), 0)
    return "\n".join(lines[first:])  # what importers print comes before it


def main() -> None:
    found: dict[str, dict[str, str]] = {}
    text, paths = WITH[PART]
    steps = [step.strip() for line in text.strip().splitlines() for step in line.split(";")]
    for path in paths:
        name, parts = look(path)
        object: Any = bpy.data.objects[name]
        context.view_layer.objects.active = object
        for other in context.view_layer.objects:
            other.select_set(other == object)
        bpy.ops.object.mode_set(mode="POSE")
        context.scene.cursor.location = (0.4, -2.0, 1.2)
        for number, step in enumerate(steps):
            said = act(object, parts, step)
            context.view_layer.update()
            label = f"{path.stem}/{number:02} {step.split()[0]}"
            if step.split()[0] not in ("select", "put", "frame"):
                found[label] = {"said": shortened(said), **read_file()}
            elif said:
                found[label] = {"said": said}
    ended(FILE, found)


if __name__ == "__main__":
    main()
