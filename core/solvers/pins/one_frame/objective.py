"""What is minimised in one frame, and its model to second order about a place.

    F(x) = 1/2 x^T S^-1 x + sum over levels of f_l |E_l(x)| + the energy of soft limits

x is the state about the reference with covariance S, E_l the weighted errors of the goals of one level as one vector,
and f_l the strength of the level. A level is so much stronger than those below it that it does not give way to them:
norms, unlike their squares, are exact penalties (Nocedal and Wright, Numerical Optimization, 17.2).

The model of a step d is 1/2 d^T (S^-1 - C + J^T W J) d - d^T (J^T y - S^-1 x), with the curvature C of the rows under
the forces y (the second derivative of a point r is a_i x (a_j x r) for a joint i above or at j).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .... import rotation
from ....rotation import Array
from ..problem import Problem, strengths_of
from ..strengths import GIVES, spring_energy
from .placed import Placed
from .places import Places

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Local:
    """What is minimised about one place, to second order, in deviations."""

    at: Placed
    rates: Array  # (R, 3, 3) right Jacobians of exp
    counts: Array  # (M,) 1 for rows that count: of one-sided ones those that are not kept, or hold by a force
    rows: Array  # (M, D) weighted
    hessian: Array  # (D, D) of the prior, the curvature of rows and soft limits
    slope: Array  # (D,) of the prior and soft limits
    strengths: Array  # (L,)
    springs: Array  # (L,) error of a level by a unit of its force


class Objective:
    """What is minimised in one frame."""

    def __init__(self, problem: Problem, places: Places) -> None:
        self.places, self.aims, self.limits = places, places.aims, places.limits
        rows, tree = problem.rows, problem.tree
        self.turning = tree.turning
        self.spread, self.stiff, self.precision = problem.prior.spread, problem.prior.stiff, problem.prior.precision
        self.both = np.multiply.outer(self.spread, self.spread)
        self.above = tree.above
        columns = np.arange(self.turning).reshape(-1, 3)
        self.joints = columns[:, :, None], columns[:, None, :]  # their blocks of the Hessian
        self.strength = strengths_of(problem)
        blocks = self.aims.blocks
        self.member = self.aims.member
        self.half = np.where(tree.order < 3 * self.aims.points, 1.0, 0.5)  # of the features' rows
        # rows of each rotation and of each goal that is not plain
        plain = rows.plain_points + rows.plain_ends
        own = 3 * np.argsort(blocks)[:, None] + np.arange(3)
        self.turned, self.further = own[rows.plain_points : plain].tolist(), own[plain:].tolist()
        self.plain = self.plain_rows = slice(None)  # rows of plain goals, and their features' rows
        if self.further:
            self.plain = np.flatnonzero(np.repeat(blocks < plain, 3))
            features = self.aims.plain_features[blocks[self.plain[::3] // 3]]
            self.plain_rows = (3 * features[:, None] + np.arange(3)).ravel()

    def pulls(self, sizes: Array, slips: Flags, strengths: Array) -> Array:
        """Return the weights (M,) by which the errors of levels that slip are their forces, 0 in other levels."""
        return self.member.dot(slips * strengths / np.maximum(sizes, GIVES))

    def holding(self, at: Placed) -> Array:
        """Return the forces (M,) by which levels hold a body that rests at a place, at most their strengths.

        The multipliers that fit best if it does not quite rest (Nocedal and Wright, 18.3); limits are left out.
        """
        rows: Array = self.places.jacobian(at, self.places.rates(at))[0] * self.aims.scales[:, None] * self.spread
        gram: Array = rows.dot(np.linalg.solve(self.precision, rows.T))
        strengths = self.strength(np.zeros(self.member.shape[1]))
        gram.ravel()[:: len(gram) + 1] += self.member.dot(GIVES / strengths)
        slopes: Array = rows.dot(at.x * self.stiff)
        forces: Array = np.linalg.solve(gram, slopes)
        return forces * self.member.dot(np.minimum(1.0, strengths / np.maximum(self.aims.sizes(forces), GIVES)))

    def merit(self, at: Placed, weights: Array, springs: Array) -> float:
        """Return what is minimised, where levels weigh so much."""
        z = at.x * self.stiff
        merit = 0.5 * float(z.dot(self.precision).dot(z))
        for size, weight, spring in zip(at.sizes.tolist(), weights.tolist(), springs.tolist(), strict=True):
            merit += spring_energy(size, weight, spring)
        return merit + self.limits.soft.energy(at) if len(self.limits.soft.rows) else merit

    def value(self, x: Array) -> float:
        """Return what is minimised, at x (D,) within the limits."""
        return self.value_at(self.places.inside(self.places.place(x)))

    def value_at(self, at: Placed) -> float:
        """Return what is minimised, at a place within the limits."""
        strengths = self.strength(np.zeros(self.member.shape[1]))
        return self.merit(at, strengths, GIVES / strengths)

    def model(self, at: Placed, forces: Array, slips: Flags, bend: bool) -> Local:
        """Return the model about a place where rows pull with forces (M,); bend: as near as can be, also of bounds."""
        rates = self.places.rates(at)
        unweighted, raw = self.places.jacobian(at, rates)
        rows = unweighted * self.aims.scales[:, None] * self.spread
        hessian = self.precision.copy()
        strengths = self.strength(self.aims.sizes(forces))
        if forces.any():
            weights = self.pulls(at.sizes, slips & (at.sizes > GIVES), strengths)
            hessian -= self._curvature(at, unweighted, raw, forces, weights) * self.both
        slope = self.precision.dot(at.x * self.stiff)
        if bend:
            push = slope * self.stiff
            self._bend(hessian, at, rates, push, push - (forces * self.aims.scales).dot(unweighted))
        if len(self.limits.soft.rows):
            pull, springs = self.limits.springs(at, rates, bend)
            slope[: self.turning] += pull.ravel() * self.spread[: self.turning]
            hessian[self.joints] += springs * self.both[self.joints]
        counts, sided = np.ones(len(rows)), self.aims.sided
        if len(sided):
            counts[sided] = (at.rows[sided] < 0.0) | (forces[sided] < 0.0)
        return Local(at, rates, counts, rows, hessian, slope, strengths, GIVES / strengths)

    def _curvature(self, at: Placed, rows: Array, raw: Array, forces: Array, weights: Array) -> Array:
        """Return C (D, D) under forces (M,), of rotation errors as they slip with weights (M,).

        rows (M, D) without weights, raw those of the features.
        """
        scales, links = self.aims.scales, self.places.links
        forces, weights = forces * scales, weights * scales * scales
        pulls = np.zeros(len(raw))  # on the features
        pulls[self.plain_rows] = forces[self.plain]
        sides = np.zeros(())
        for own in self.turned if weights.any() else ():
            rate = rotation.inverse_right_jacobian(at.vectors[own])
            flatter = weights[own, None] * (np.eye(3) - 0.5 * (rate + rate.T))
            sides = sides + rows[own].T.dot(flatter).dot(rows[own])
        for block, own in zip(self.aims.goals.blocks, self.further, strict=True):
            if forces[own].any() or weights[own].any():
                one = self.aims.one
                more, side = block.bend(links, at.kinematics, raw[None], forces[None, own], weights[None, own], one)
                pulls, sides = pulls + more[0], sides + side[0]
        pulls *= self.half
        turns = pulls.reshape(-1, 3).dot(rotation.SKEW).reshape(-1, 3, 3)
        bend = -turns.transpose(1, 0, 2).reshape(3, -1).dot(raw)  # sum of J x f
        turned = self.places.columns[:3].T.dot(bend) * self.above
        if self.places.long:
            turned[:, links.tree.moving :] = links.lengthening(at.kinematics, self.places.columns[:3], pulls, raw)
        return turned + turned.T + sides

    def _bend(self, hessian: Array, at: Placed, rates: Array, slope: Array, push: Array) -> None:
        """Subtract the curvature of rotation vectors, d/dx of Jr(x)^T g for the prior's slope, and of active bounds.

        push (D,) is the slope that the bounds balance.
        """
        vectors, pulls = (some[: self.turning].reshape(-1, 3) for some in (at.x, slope))
        own = np.linalg.solve(rates.transpose(0, 2, 1), pulls[:, :, None])[:, :, 0]
        rate = rotation.right_jacobian_bend(vectors, own)
        bends = 0.5 * (rate + rate.transpose(0, 2, 1))
        if self.limits.active:
            slopes = self.limits.slopes(at, rates, self.limits.active)
            bends += self.limits.curvature(at, rates, self.limits.multipliers(push, slopes))
        hessian[self.joints] -= bends * self.both[self.joints]
