"""Whether anything moves above the board. Entry point: `vision.motion.watcher.Watcher`."""
