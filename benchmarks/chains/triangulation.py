"""Triangulation (Müller-Cajar and Mukundan, "Triangulation: a new algorithm for inverse kinematics", IVCNZ 2007).

One turn for each joint, from the base on: the joint's own bone, the rest of the chain stretched out, and the line to
the target make a triangle, whose angle at the joint the law of cosines tells. Only measured against.
"""

import numpy as np

from .work import Array, Work, matrices


def triangulation(work: Work) -> tuple[Array, Array]:
    """Angles (N, n) that the joints turn by, and errors (N,)."""
    lengths, targets = work.lengths, work.targets
    frame, ways = np.eye(3), np.empty((len(targets), len(lengths), 3))
    for bone, turn in enumerate(work.start):
        frame = frame @ matrices(turn)
        ways[:, bone] = frame[:, 1]
    place, angles = np.zeros((len(targets), 3)), np.empty((len(targets), len(lengths)))
    for bone, length in enumerate(lengths):
        gap = targets - place
        far = np.linalg.norm(gap, axis=-1)
        rest = lengths[bone + 1 :].sum()
        aim = gap / np.maximum(far, np.finfo(float).tiny)[:, None]
        # straight on if it is too far, away from it if it is too near, else the triangle
        cosine = (length**2 + far**2 - rest**2) / (2.0 * length * np.maximum(far, np.finfo(float).tiny))
        wanted = np.arccos(np.clip(cosine, -1.0, 1.0))
        axis = np.cross(ways[:, bone], aim)
        sine = np.linalg.norm(axis, axis=-1)
        now = np.arctan2(sine, np.sum(ways[:, bone] * aim, axis=-1))
        axis /= np.maximum(sine, np.finfo(float).tiny)[:, None]
        angles[:, bone] = np.abs(now - wanted)
        turn = np.concatenate(
            [np.cos(0.5 * (now - wanted))[:, None], np.sin(0.5 * (now - wanted))[:, None] * axis], axis=-1
        )
        ways[:, bone:] = np.einsum("nij,nbj->nbi", matrices(turn), ways[:, bone:])
        place = place + length * ways[:, bone]
    return angles, np.linalg.norm(place - targets, axis=-1)
