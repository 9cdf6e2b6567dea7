"""Exact gaps φ of pairs of surface elements with their normals and curvatures, for `event_driven`."""
