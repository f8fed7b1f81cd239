"""The empty board put together where no photo shows it. Its value: `reconstruct.bared`."""
