"""Where tests find files."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
DATA: Final = ROOT / "tests" / "data"
SHARED: Final = ROOT.parent / "shared" / "data"  # larger rigs and motions, which a clone does not have
