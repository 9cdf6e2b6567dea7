"""Collision detection: which surfaces touch, where, along which normal, and how deep."""

from .detector import Detector, shape_gap

__all__ = ["Detector", "shape_gap"]
