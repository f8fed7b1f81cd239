"""Makes up boards of a copy's own cut-outs, from which its network learns."""
