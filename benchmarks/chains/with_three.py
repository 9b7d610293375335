"""three.js's CCDIKSolver, run by node: `npm install --prefix FOLDER three`, then --three FOLDER."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from .work import SWEEPS, TOLERANCE, Array, Work


class Three:
    """A node process with one chain, told by lines what to do.

    most: (n, 3) radians, the largest Euler angles to either side, in the order that Blender calls ZYX
    """

    def __init__(self, work: Work, folder: Path, most: Array | None = None) -> None:
        self.work = work
        script = Path(__file__).with_name("three_ccd.mjs")
        self._node = subprocess.Popen(["node", str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.revision = self._ask(json.dumps({
            "folder": str(folder.resolve()), "lengths": work.lengths.tolist(), "start": work.start.tolist(),
            "targets": work.targets.tolist(), "sweeps": SWEEPS, "tolerance": TOLERANCE,
            "most": None if most is None else most.tolist(),
        }))  # fmt: skip
        self.name = f"three.js r{self.revision}, CCD"

    def _ask(self, line: str) -> Any:
        assert self._node.stdin is not None
        assert self._node.stdout is not None
        self._node.stdin.write(line + "\n")
        self._node.stdin.flush()
        answer = self._node.stdout.readline()
        if not answer:
            raise OSError("node ended: is three.js in the folder of --three?")
        return json.loads(answer)

    def run(self) -> float:
        return 1e-6 * self._ask("run")

    def answers(self) -> Array:
        return np.array(self._ask("answers"))

    def close(self) -> None:
        assert self._node.stdin is not None
        self._node.stdin.close()
        self._node.wait()
