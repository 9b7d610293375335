"""W3: contribution CCD on chains of ball joints, beside three.js and Blender: `python -m benchmarks.chains`."""
