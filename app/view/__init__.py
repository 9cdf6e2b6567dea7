"""The 3-D view: a snapshot as a picture. It knows no panel and no window."""
