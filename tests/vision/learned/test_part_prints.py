"""Prints of a site's parts, looked for in pictures that may be turned: as if each was turned."""

import numpy as np
import pytest

from vision.learned.network import FINER, SITE_PIXELS, SITE_TEMPLATE, match_parts, slide_templates

TOLD = [[0, 1], [], [1, 2], [0, 2]]  # of each part's three prints


@pytest.mark.parametrize("quarters", [False, True])
def test_parts_fit_as_they_do_in_pictures_turned_by_quarters(quarters):
    rng = np.random.default_rng(2)
    side = FINER * SITE_PIXELS
    pictures = rng.normal(0, 1, (5, side, side, 3)).astype(np.float32)
    templates = np.zeros((4, SITE_TEMPLATE, SITE_TEMPLATE, 3, 3), np.float32)
    for part, few in enumerate(TOLD):
        for print_ in few:
            templates[part][..., print_] = rng.normal(0, 1, templates.shape[1:4])
    n = SITE_PIXELS
    wanted = np.full((5, 4, 3), -np.inf)
    for q in range(4) if quarters else (0,):
        turned = np.rot90(pictures, -q, (1, 2))
        for part, (y, x) in enumerate([(0, 0), (0, n), (n, 0), (n, n)]):
            fits = slide_templates(turned[:, y : y + n, x : x + n], templates[part], False)
            wanted[:, part] = np.maximum(wanted[:, part], fits)
    found = match_parts("site", pictures, templates, quarters, chunk=2).reshape(5, 4, 3)
    assert found == pytest.approx(wanted, abs=1e-3)
    assert not found[:, 0, 2].any(), "nothing is looked for there"
