"""How bodies move: free rigid bodies, applied forces, prescribed motions."""
