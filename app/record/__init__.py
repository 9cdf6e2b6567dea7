"""Videos and pictures, of the running window or without one."""
