"""Pictures made ready for reading: each step once, when something asks for it. Its values:
`Preprocessor`, `PreparedPicture`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from vision.geometry.pose import Pose
from vision.geometry.site_windows import Pyramid
from vision.photometry.camera_response import NEUTRAL_RESPONSE, estimate_response
from vision.photometry.canvas import Empty
from vision.photometry.cast_shadows import find_shadows, remove_shadows
from vision.photometry.clipped_channels import CopyColours, restore_clipped
from vision.photometry.denoise import denoise_image, estimate_noise
from vision.photometry.room_light import small_view


class Preprocessor:
    """What a copy's calibration photos say of light, noise and colour."""

    def __init__(
        self,
        size: tuple[float, float],
        reference: np.ndarray | None = None,
        empty: Empty | None = None,
        noise: float = 0.0,
        colours: Callable[[], CopyColours] | None = None,
    ) -> None:
        """size: the board's, mm; reference: (h, w, 3) log, the empty board as a small view, which
        tells a picture's tone (None: pictures are read as they come); empty: the same as a canvas,
        by which shadows are taken out; noise: what the calmest photo has, as a share of its
        brightness; colours: of board and pieces, by which clipped channels are restored"""
        self.size, self.reference, self.empty = size, reference, empty
        self.noise, self.colours = noise, colours

    def prepare(self, image: np.ndarray, pose: Pose) -> PreparedPicture:
        """image: (h, w, 3) uint8 BGR"""
        return PreparedPicture(self, Pyramid(image), pose)

    def match_reference(self, picture: Pyramid, pose: Pose) -> Pyramid:
        """The picture in the empty board's tone and colours, without large shadows cast on it;
        itself as a rule"""
        if self.reference is None:
            return picture
        view = small_view(picture, pose, self.size)
        response = estimate_response(view, self.reference, self.size)
        if response != NEUTRAL_RESPONSE:
            picture = Pyramid(response.undone(picture.levels[0]))
            view = small_view(picture, pose, self.size)
        if self.empty is None or not (found := find_shadows(view, self.reference, self.size)):
            return picture
        return Pyramid(remove_shadows(picture.levels[0], pose, self.empty, found, self.size))

    def clean(self, picture: Pyramid, pose: Pose) -> Pyramid:
        """The picture with little noise and no clipped channels; itself as a rule"""
        image = picture.levels[0]
        calm = denoise_image(image, estimate_noise(image, pose, self.size), self.noise)
        out = picture if calm is image else Pyramid(calm)
        if self.colours is not None and self.reference is not None:
            out = restore_clipped(out, pose, self.reference, self.size, self.colours)
        return out


class PreparedPicture:
    """One picture, `raw` as the camera made it. Readers take the kind that suits them."""

    def __init__(self, preprocessor: Preprocessor, raw: Pyramid, pose: Pose) -> None:
        self.preprocessor, self.raw, self.pose = preprocessor, raw, pose

    @cached_property
    def matched(self) -> Pyramid:
        """In the empty board's tone and light, for what compares many pixels and knows itself which
        are clipped"""
        return self.preprocessor.match_reference(self.raw, self.pose)

    @cached_property
    def cleaned(self) -> Pyramid:
        """The same with little noise and no clipped channels"""
        if self.preprocessor.reference is None:
            return self.matched
        clean = self.preprocessor.clean(self.raw, self.pose)
        return (
            self.matched
            if clean is self.raw
            else self.preprocessor.match_reference(clean, self.pose)
        )

    def take_as_is(self) -> None:
        """Leaves everything out: the picture is known to need none of it."""
        self.matched = self.cleaned = self.raw

    @property
    def untouched(self) -> bool:
        """Whether nothing had to be done"""
        image = self.raw.levels[0]
        return self.matched.levels[0] is image and self.cleaned.levels[0] is image
