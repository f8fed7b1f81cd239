"""How well a piece of a sampler lies wherever it may: by its outline, and by its colour. Its central
value: Samplers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import cv2
import msgspec
import numpy as np

from calibration.cutouts.naming import Artwork, differing_parts
from calibration.cutouts.outlines import (
    colour_difference,
    doubt_map,
    edge_strength,
    footprint_mask,
    mask_side,
    rim_score,
    sweep_mask,
)
from calibration.cutouts.specimens import (
    Shape,
    Specimen,
    crop_straight,
    crop_window,
    fill_mask,
    piece_silhouette,
)
from vision.geometry.footprints import lean_at
from vision.geometry.posed_photo import Shot
from vision.learned.canvas import Canvas
from vision.plan import Piece, Plan

LOOSE_STEP = 9.0  # degrees between turns that are tried of what has room to lie any way
REACH = 8.0  # mm around a site in which its piece is looked for
NEAR_FOUND = 3.0  # ... and around where it was found already
COARSEST = 0.8  # pixels a mm at which pieces are sought on sites however large
WINDOW_PIXELS = 60  # from the middle of a window to its rim, else
SAME_BODY = 0.12  # log units between the colours of kinds that are of one material
FEWEST_KIN = 3  # kinds of which one found elsewhere does not move the middle
WHOLLY_UNLIKE = 0.25  # log units from which colours have nothing to do with each other
FAINT = 0.06  # log units: pieces as like the board as that are not found by their colour
BODY_WEIGHT = 2.0  # of a piece's colour, beside its outline, which also weighs two at most
DOUBT_WEIGHT = 0.4  # of how far off the middle of its room a piece lies
# of a site's side beyond it that is held against a place as much as a poor outline
GIVE_BEYOND = 0.12


class Samplers(msgspec.Struct, frozen=True, eq=False):
    """The calibration photos as they are cut. view: their Canvas; shots: the photos; canvases: (h, w, 3)
    log, one a shot, what is seen; grounds: the same, what would be if what is still sought did not lie
    there"""

    plan: Plan
    view: Canvas
    shots: Sequence[Shot]
    canvases: Sequence[np.ndarray]
    grounds: Sequence[np.ndarray]

    def lean_at(self, photo: int, mm: np.ndarray) -> np.ndarray:
        """(2,) mm a mm of height that tops are seen off their feet at (2,) mm of a photo"""
        return lean_at(self.shots[photo].pose, mm[None])[0]

    def cut_look(self, s: Specimen) -> None:
        """Takes a specimen's look from where it lies, as if nothing lay on it."""
        size = self.plan.pieces[s.kind].footprint
        s.look = crop_straight(self.canvases[s.photo], self.view, s.top, s.turn, size)
        s.clear = np.ones(s.look.shape[:2], np.float32)


class Room(msgspec.Struct, frozen=True, eq=False):
    """Where a piece is sought. centre: (2,) mm, on the board, of what it lies on; box: (2,) mm of
    that; free: (2,) mm either way that it may lie off the middle; lean: (2,) mm a mm of height that
    tops are seen off; base: mm of height beneath it"""

    centre: np.ndarray
    box: np.ndarray
    free: np.ndarray
    lean: np.ndarray
    base: float = 0.0

    @classmethod
    def around(cls, top: np.ndarray, piece: Piece, lean: np.ndarray, free: float) -> Room:
        """Where a piece may lie that was found with its top's middle at (2,) mm, `free` mm off"""
        size = np.array(piece.footprint)
        return cls(top - lean * piece.height, size, np.full(2, free), lean)


class Places(msgspec.Struct, eq=False):
    """How well a piece lies wherever its top's middle may appear. score: (S, S), the best of its turns;
    turn: (S, S) degrees; centre: (2,) mm of the middle; scale: pixels a mm"""

    score: np.ndarray
    turn: np.ndarray
    centre: np.ndarray
    scale: float

    def best(self) -> tuple[float, np.ndarray, float]:
        """(score, (2,) mm, turn) of the best"""
        y, x = np.unravel_index(int(self.score.argmax()), self.score.shape)
        off = (np.array([x, y], float) + 0.5 - len(self.score) / 2) / self.scale
        return float(self.score[y, x]), self.centre + off, float(self.turn[y, x])

    def keep_within(self, outline: np.ndarray) -> None:
        """Nothing lies outside an outline, (n, 2) mm."""
        inside = np.zeros(self.score.shape, np.uint8)
        px = (outline - self.centre) * self.scale + len(self.score) / 2 - 0.5
        cv2.fillPoly(inside, [np.rint(px).astype(np.int32)], 1)
        if inside.any():
            self.score[inside == 0] = -np.inf

    def exclude(self, at: np.ndarray, radius: float) -> None:
        """Nothing lies within `radius` mm of (2,) mm."""
        t = (np.arange(len(self.score)) + 0.5 - len(self.score) / 2) / self.scale
        x, y = at - self.centre
        self.score[np.hypot(t[None] - x, t[:, None] - y) < radius] = -np.inf


def score_places(
    samplers: Samplers,
    photo: int,
    piece: Piece,
    room: Room,
    tilts: np.ndarray,
    colour: np.ndarray | None,
    beside: Sequence[Specimen],
    scale: float | None = None,
) -> Places:
    """Different from the ground inside its outline, edges along it, and of its colour. tilts: (n,)
    degrees clockwise that are tried; colour: (3,) log, of most of such a piece, if it is known; beside:
    others, which it does not cover where they were found; scale: pixels a mm, where it was found near
    there before"""
    plan, view = samplers.plan, samplers.view
    canvas, ground = samplers.canvases[photo], samplers.grounds[photo]
    centre, lean = room.centre, room.lean
    expected = lean * (room.base + piece.height)
    beyond = NEAR_FOUND if scale else REACH
    half = max(room.box.max(), max(piece.footprint)) / 2 + beyond + np.abs(expected).max()
    scale = scale or min(view.scale, max(WINDOW_PIXELS / half, COARSEST))
    n = int(np.ceil(2 * half * scale))
    seen, bare = (crop_window(c, view, centre, n, scale) for c in (canvas, ground))
    for o in beside:
        if np.abs(o.top - centre).max() < half + max(plan.pieces[o.kind].footprint):
            hull = (piece_silhouette(plan, o, lean) - centre) * scale + n / 2 - 0.5
            taken = fill_mask(hull, (n, n)) > 0.5
            bare[taken] = seen[taken]
    doubt = doubt_map(n, scale, room.free, expected, GIVE_BEYOND * room.box.max())
    edges = np.maximum(edge_strength(seen) - edge_strength(bare), 0)
    foot = -lean * piece.height
    unlike = colour_difference(seen, bare)
    scores = [rim_score(unlike, edges, piece.footprint, piece.disc, scale, foot)]
    if colour is not None:
        scores.append(body_score(seen, bare, colour, piece, scale, foot))
    best, turn = np.full((n, n), -np.inf, np.float32), np.zeros((n, n), np.float32)
    for tilt in tilts:
        total = sum(score(float(tilt)) for score in scores)
        better = total > best
        best[better], turn[better] = total[better], tilt
    return Places(best - DOUBT_WEIGHT * doubt, turn, centre, scale)


def outline_turns(shape: Shape) -> np.ndarray:
    """(n,) degrees in which what has room to lie any way is sought: those in which its footprint looks
    different"""
    size, disc, _ = shape
    return np.zeros(1) if disc else np.arange(0, 90 if size[0] == size[1] else 180, LOOSE_STEP)


def body_colours(plan: Plan, specimens: Sequence[Specimen]) -> dict[str, np.ndarray]:
    """kind -> (3,) log, the colour of most of it where its pieces were found: that of all pieces of
    its form where these look alike but for their prints, or of those that the plan says are printed
    alike but for one part: of one that was found elsewhere its own tells nothing"""

    def colour_of(some: Sequence[Specimen]) -> np.ndarray:
        return np.median(np.concatenate([s.look.reshape(-1, 3) for s in some]), 0)

    forms: dict[tuple, dict[str, list[Specimen]]] = defaultdict(lambda: defaultdict(list))
    for s in specimens:
        piece = plan.pieces[s.kind]
        forms[piece.footprint, piece.disc][s.kind].append(s)
    out: dict[str, np.ndarray] = {}
    for kinds in forms.values():
        own = {kind: colour_of(mine) for kind, mine in kinds.items()}
        common = colour_of([s for mine in kinds.values() for s in mine])
        alike = all(colour_difference(c, common) < SAME_BODY for c in own.values())
        out |= dict.fromkeys(own, common) if alike else shared_colours(own, plan.artwork)
    return out


def shared_colours(own: Mapping[str, np.ndarray], artwork: Artwork) -> dict[str, np.ndarray]:
    """kind -> (3,) the middle one of the colours of its `alike_kinds`"""

    def spread_of(_: str, kin: Sequence[str]) -> float:
        colours = np.array([own[k] for k in kin])
        return float(np.median(colour_difference(colours, np.median(colours, 0))))

    alike = {kind: alike_kinds(kind, own, artwork, spread_of) for kind in own}
    return {kind: np.median([own[k] for k in kin], 0) for kind, kin in alike.items()}


def alike_kinds(
    kind: str,
    kinds: Iterable[str],
    artwork: Artwork,
    spread_of: Callable[[str, Sequence[str]], float],
) -> list[str]:
    """Those of these kinds that are printed as one is but for one part, and itself, whichever part
    that is of whose kinds the colours are most alike; itself alone where none are.
    spread_of: (kind, its kin) -> log units by which colours differ"""
    out, best = [kind], SAME_BODY
    apart = {k: differing_parts(artwork, kind, k) for k in kinds}
    for slot in range(len(artwork.get(kind, ()))):
        kin = [k for k, parts in apart.items() if parts in (set(), {slot})]
        if len(kin) >= FEWEST_KIN and (spread := spread_of(kind, kin)) < best:
            out, best = kin, spread
    return out


def body_score(
    seen: np.ndarray,
    bare: np.ndarray,
    colour: np.ndarray,
    piece: Piece,
    scale: float,
    foot: np.ndarray,
) -> Callable[[float], np.ndarray]:
    """tilt -> (S, S): how much of what has a piece's colour, and not the board's, it covers whose middle
    lies at each pixel; BODY_WEIGHT where that is all it can. As of `rim_score`"""
    body = np.broadcast_to(colour, bare.shape)
    unlike_board, unlike_piece, contrast = (
        np.minimum(colour_difference(a, b), WHOLLY_UNLIKE)
        for a, b in ((seen, bare), (seen, body), (body, bare))
    )
    gained = (unlike_board - unlike_piece) / max(float(np.median(contrast)), FAINT)
    gained = np.maximum(gained, -1)
    by = foot * scale
    side = mask_side(piece.footprint, by, scale, len(seen))

    def score_tilt(tilt: float) -> np.ndarray:
        mask = sweep_mask(footprint_mask(piece.footprint, piece.disc, side, scale, 0.0, tilt), by)
        covered = BODY_WEIGHT * mask / mask.sum()
        return cv2.filter2D(gained, cv2.CV_32F, covered, borderType=cv2.BORDER_REFLECT)

    return score_tilt
