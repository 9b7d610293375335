"""The JSON that users write or get: read and checked without Blender, written from plain data."""
