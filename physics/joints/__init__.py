"""Joints: one file a type; `table` is where a type is entered."""
