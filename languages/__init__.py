"""The languages of the interface: one JSON file each, English text -> translation; Blender looks the labels up."""
