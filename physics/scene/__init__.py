"""From files to a model and a first state: scenes, meshes, robots, and every check of what a user brings."""
