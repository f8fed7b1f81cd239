"""Whether anything moves above the board. Its value: `vision.motion.watcher.Watcher`."""
