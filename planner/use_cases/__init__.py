"""Functions behind the commands. Only they join the core with files, the clock and the environment."""
