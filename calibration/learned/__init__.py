"""Teaches the learned reader (`vision.learned`) from a copy's own photos: pieces are cut out,
boards made up of them, a network taught."""
