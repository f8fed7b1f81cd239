"""Teaches a copy's network (`vision.learned`) on boards made up of its own pieces."""
