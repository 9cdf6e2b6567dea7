"""How bodies move without contacts: free bodies, trees of joints, joints in maximal coordinates, applied forces."""
