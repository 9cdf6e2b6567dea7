"""The window: input, frames, and what mouse and keys do."""
