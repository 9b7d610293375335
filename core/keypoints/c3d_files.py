"""C3D files of optical motion capture (c3d.org): labelled markers over time, read by py-c3d, which is bundled."""

import io
import warnings
from typing import Any, cast

import numpy as np

from ..errors import CoreError
from ..rotation import Array
from ..sources import check_counts

_WHOLE, _FLOAT = 2, 4  # bytes of a number


def read_c3d(data: bytes) -> tuple[list[str], Array, float | None, str]:
    """Return labels (K), points (F, K, 3) with NaN for unseen ones, frames per second or None, and the unit's name.

    Raises CoreError if the data are no C3D file with markers.
    """
    try:
        from c3d import Reader  # pyright: ignore[reportMissingImports, reportMissingTypeStubs, reportUnknownVariableType]
    except ImportError:
        raise CoreError('C3D files need the Python package "c3d", which is in the zip of Poise.') from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about forces and other analog signals
        try:
            reader = cast(Any, Reader)(io.BytesIO(data))
            _check_header(reader, len(data))
            labels = [label.strip() for label in reader.point_labels]
            every = np.array([points[:, :4] for _, points, _ in reader.read_frames(copy=True)], float)
            rate, unit = float(reader.point_rate), str(reader.get_string("POINT:UNITS")).strip().lower()
        except CoreError:
            raise
        except Exception:  # py-c3d raises many kinds of errors for broken headers
            raise CoreError("This is not a readable C3D file.") from None
    if every.ndim != 3 or not len(every):
        raise CoreError("The file has no frame with markers.")
    points = np.where(every[..., 3:] < 0.0, np.nan, every[..., :3])
    return labels[: points.shape[1]], points, rate if 0.0 < rate < np.inf else None, unit


def _check_header(reader: Any, size: int) -> None:
    """Raise CoreError if there is nothing, or not what the header and the parameters of a file of `size` bytes say."""
    groups: list[Any] = list(reader.group_values())
    for one in (parameter for group in groups for parameter in group.param_values()):
        counts = [max(count, 1) for count in one.dimensions]
        check_counts(f"a parameter of {' x '.join(map(str, one.dimensions))} values", size, *counts)
        if one.total_bytes != len(one.bytes):
            raise CoreError("A parameter of the file is truncated.")
    markers, frames = int(reader.point_used), int(reader.frame_count)
    if markers < 1 or frames < 1:
        raise CoreError("The file has no frame with markers.")
    numbers = 4 * markers + int(reader.analog_used) * int(reader.analog_per_frame)
    word = _FLOAT if reader.point_scale < 0.0 else _WHOLE
    check_counts(f"{frames} frames of {markers} markers", size, frames, numbers, word)
