"""Collision detection: which surfaces touch, where, along which normal, and how deep."""

from contactlab.physics.collision.detector import Detector

__all__ = ["Detector"]
