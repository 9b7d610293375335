"""The JSON that users write or get: read and checked without Blender, by tables that its documentation is made of."""
