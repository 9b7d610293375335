"""Find the parts of a body in a skeleton, by names and by shape."""
