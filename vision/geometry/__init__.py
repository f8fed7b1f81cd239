"""Where things lie: poses, lenses, sites, windows round them, and what pieces hide."""
