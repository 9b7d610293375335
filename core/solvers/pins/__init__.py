"""Pins and drag: prioritised goals on any links of the tree (CN1420453; Nakamura and Yamane, TVCG 2003)."""
