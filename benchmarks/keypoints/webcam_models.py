"""Make models for the test of docs/examples/send_webcam.py from those in a wheel of MediaPipe up to 0.10.21.

    python -m pip install "mediapipe<0.10.22"       in an environment of its own
    python -m benchmarks.keypoints.webcam_models FOLDER

Newer packages have no models inside, and read these files: POISE_POSE_MODEL=FOLDER/pose.task and
POISE_HAND_MODEL=FOLDER/hand.task (MediaPipe and its models: Apache-2.0).
"""

import sys
import zipfile
from importlib.resources import files
from pathlib import Path
from typing import Final

from mediapipe.tasks.python.metadata.metadata_writers import (  # pyright: ignore[reportMissingImports]
    metadata_writer,
)

# File of a task -> its models: name in the task, file in the wheel, and the mean and the scale of colours that it
# wants, which a task has to say: -1 to 1, and 0 to 1.
TASKS: Final = {
    "pose.task": (
        ("pose_detector.tflite", "pose_detection/pose_detection.tflite", (127.5, 127.5)),
        ("pose_landmarks_detector.tflite", "pose_landmark/pose_landmark_full.tflite", (0.0, 255.0)),
    ),
    "hand.task": (
        ("hand_detector.tflite", "palm_detection/palm_detection_full.tflite", None),
        ("hand_landmarks_detector.tflite", "hand_landmark/hand_landmark_full.tflite", None),
    ),
}


def main() -> None:
    folder, modules = Path(sys.argv[1]), Path(str(files("mediapipe"))) / "modules"
    for task, models in TASKS.items():
        with zipfile.ZipFile(folder / task, "w", zipfile.ZIP_STORED) as archive:
            for name, file, colours in models:
                data = (modules / file).read_bytes()
                if colours is not None:
                    writer = metadata_writer.MetadataWriter.create(bytearray(data))
                    data = writer.add_image_input(norm_mean=[colours[0]], norm_std=[colours[1]]).populate()[0]
                archive.writestr(name, data)


if __name__ == "__main__":
    main()
