"""Trees of joints in generalized coordinates: poses, H, C, forward dynamics, their answers to contacts."""
