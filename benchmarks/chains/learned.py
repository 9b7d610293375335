"""Lists learned on one half of a captured clip and replayed on both: `python -m benchmarks.chains.learned`.

Mean degrees between the joints' own rotations in the replay and in the motion, within the limits of anatomy, beside a
list with equal fractions. The clips begin after their rest pose.
"""

import argparse
import contextlib
import io
import os
import sys
from typing import Final

import numpy as np

import standalone
from benchmarks.motion.clips import CLIPS

TAKEN: Final = ("10_04", "train_soccer_1", "94_07")
LONGEST: Final = 288  # frames of a half
ENDS: Final = {  # by the first joint of a clip: of an arm and of a leg
    "Hips": (("RightShoulder", "RightHand"), ("RightUpLeg", "RightFoot")),
    "hip": (("rCollar", "rHand"), ("rThigh", "rFoot")),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--clips", nargs="+", default=list(TAKEN), help="numbers of CMU's clips")
    options = parser.parse_args()
    if not CLIPS.is_dir():
        print(f"Nothing was measured: there are no clips in {CLIPS}.")
        return
    standalone.enable()
    import bpy

    import bridge
    from core import Actuation, ContributionCCD
    from core.contribution import learn, with_hinges
    from core.contribution.learned_list import Replay, uniform_list

    print(f"{'clip, frames of a half':28}{'chain':24}{'learned half':>13}{'equal':>8}{'other half':>12}{'equal':>8}")
    for clip in options.clips:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        with contextlib.redirect_stdout(io.StringIO()):
            bpy.ops.import_anim.bvh(filepath=str(CLIPS / f"cmu_{clip}.bvh"), rotate_mode="NATIVE")
        armature = next(one for one in bpy.data.objects if one.type == "ARMATURE")
        rig, half = bridge.read_rig(armature), min(LONGEST, (bridge.keyed_range(armature)[1] - 1) // 2)
        roles = bridge.read_roles(armature, rig.skeleton)
        for base, effector in ENDS[rig.skeleton.names[0]]:
            first, other = (
                bridge.read_motion(armature, rig, np.arange(begin, begin + half))[0].pose for begin in (2, 2 + half)
            )
            skeleton, bends = with_hinges(rig.skeleton, roles, first, ranges=True)
            method = ContributionCCD((Actuation(effector, "X"),), bends=bends)
            learned = learn(skeleton, first, effector, base, method=method)
            rest = Replay(skeleton, other, effector, base, method=method)
            errors = [rest.errors(one).mean() for one in (learned.actuations, uniform_list(skeleton, rest.joints))]
            found = np.degrees([learned.error, learned.uniform_error, *errors])
            numbers = "".join(f"{value:{width}.1f}" for value, width in zip(found, (13, 8, 12, 8), strict=True))
            print(f"{f'{clip}, {half}':28}{f'{base} to {effector}':24}{numbers}", flush=True)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
