"""The docs' pictures are made by the program; those of the page need a browser and are looked at
when they are made."""

import cv2
import numpy as np

from devtools.pictures import ACROSS, all_pictures


def test_the_board_with_and_without_the_hand():
    made = all_pictures(None)
    (plain, first), (hand, second) = next(made), next(made)
    made.close()
    assert (plain, hand) == ("from-above.jpg", "table.jpg")
    a, b = (
        cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR).astype(int)
        for data in (first, second)
    )
    assert a.shape == b.shape and a.shape[1] == ACROSS
    assert (np.abs(a - b).max(2) > 25).mean() > 0.03, "no hand is in it"
