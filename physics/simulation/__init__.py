"""One model, one state, one method, with its history: what scripts use and the physics thread owns."""
