"""Finds oddities in a copy's calibration photos: blurred ones, and layouts that contradict their
photo."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import cv2
import numpy as np

from calibration.copy import Copy
from calibration.cutouts.specimens import Specimen
from calibration.empty_board.similar_print import COMPARED_PX
from calibration.framing import sharpness_of
from calibration.swapped_labels import find_swapped
from calibration.trial import Row
from engine.text import Text, say
from vision.geometry.corners import nearest_order
from vision.geometry.occlusion import covered_by_blocks
from vision.geometry.pose import board_scale
from vision.geometry.posed_photo import Shot
from vision.geometry.site_groups import group_by_size
from vision.geometry.site_windows import Pyramid, Windows, scale_at
from vision.photometry.reference_light import fit_lights
from vision.photometry.room_light import to_reference_logs
from vision.plan import Plan
from vision.registration.tile_frame import PATTERN_MM
from vision.storage.image_array import to_grey

# from B, G, R to brightness, blue minus green, and red minus green
OPPONENT = np.array([[1 / 3, 1 / 3, 1 / 3], [1, -1, 0], [0, -1, 1]], np.float32)
LIGHT_ALONE = np.array([0.15, 0.08, 0.08], np.float32)  # log units from light and noise
BLURRED_SHARE = 0.5  # of the sharpest photo's sharpness, at the same scale
BARE = 5.0  # a bare site differs this many times less from the empty board than any piece
USUAL = 95  # percentile of the bare sites' differences from the empty board
ENOUGH = 20  # bare sites needed to know how different bare sites look
# an unlisted piece differs from the board this many times as much as any other bare site
PLAIN_RATIO = 3.0
# least number of sites with and without pieces; least share of pairs in which the former differs
# more from the empty board
FEW, HARDLY_SHARE = 4, 0.75
SLIPS = 2  # the most mistakes reported for a copy: if more look like that, they are pale pieces
LIKELY = 0.5  # least probability of a reading that is confirmed by another one
SURE = 0.9  # least probability of a reading that contradicts a layout
MOST = 4  # the most sites named
ASTRAY_PX = 20  # at 1640 wide: a careful tap is never farther off
POORLY_FOUND_PX = 2.0  # at 1640 wide: above this error, a board is read less well


def tapped_astray(copy: Copy, shots: list[Shot], rise: float = 0.0) -> Iterator[Text]:
    """One sentence for each photo whose tapped corners are far from the board's estimated ones;
    rise: mm by which the corners are above the sites"""
    for photo, shot in zip(copy.photos, shots):
        corners = photo.corners
        if corners is None or copy.markers:
            continue
        scale, there = max(shot.pose.size) / 1640, shot.pose.to_px(copy.plan.corners, rise)
        turn = nearest_order(corners, there)
        if turn:
            yield say(
                "in {photo} the pieces lie as if corner {number} had been tapped "
                "first: it was taken so",
                photo=photo.name,
                number=turn + 1,
            )
        off = np.linalg.norm(np.roll(corners, turn, 0) - there, axis=1)
        far = ", ".join(
            f"{k + 1} ({off[k]:.0f} px)" for k in np.argsort(-off) if off[k] > ASTRAY_PX * scale
        )
        poor = POORLY_FOUND_PX * scale
        if shot.pose.by == "tiles":  # laid by hand on a bare table: taps cannot be more exact
            poor = PATTERN_MM * board_scale(shot.pose, copy.plan)
        if shot.pose.error_px > poor:
            yield say(
                "in {photo} the board is only found to {error} pixels: tap its "
                "corners again, corner {number} first; it should lie flat",
                photo=photo.name,
                error=f"{shot.pose.error_px:.1f}",
                number=int(np.argmax(off)) + 1,
            )
        elif far:
            yield say(
                "in {photo} corners were tapped beside the board's: {corners}; they "
                "were taken from its sides",
                photo=photo.name,
                corners=far,
            )


def outlines_astray(given: Plan, aligned: Plan) -> Iterator[Text]:
    """One sentence if a plan's outlines had to be moved onto the print"""
    off = [np.linalg.norm(b.centre - a.centre) for a, b in zip(given.site, aligned.site)]
    if max(off) > 0:
        yield say(
            "the plan's outlines lie up to {mm} mm beside what is printed on the board: they "
            "were moved onto it; do its width and height fit?",
            mm=f"{max(off):.0f}",
        )


def blurred_photos(plan: Plan, shots: list[Shot]) -> list[str]:
    """The photos that show the board much less sharply than others do. Bare boards, which may have
    no print, are compared only with each other"""
    laid, bare = [s for s in shots if s.layout], [s for s in shots if not s.layout]
    return sorted(least_sharp(plan, laid) + least_sharp(plan, bare))


def least_sharp(plan: Plan, shots: list[Shot]) -> list[str]:
    """The photos among these that are much less sharp than the sharpest"""
    if len(shots) < 2:
        return []
    middles = np.array([s.centre for s in plan.site])
    scale = min(scale_at(s.pose, middles) for s in shots)
    seen = [
        to_grey(cv2.remap(s.image, *s.pose.rectify_map(0, 0, *plan.size, scale), cv2.INTER_AREA))
        for s in shots
    ]
    sharp = [sharpness_of(one) for one in seen]
    return [s.name for s, value in zip(shots, sharp) if value < BLURRED_SHARE * max(sharp)]


def not_there(plan: Plan, shots: list[Shot]) -> list[tuple[str, str, str]]:
    """(photo, site, what its layout says) for listed pieces that look like the empty board, unlike
    all other pieces; nothing if there are pale pieces on a pale board. Likewise for unlisted pieces
    (""): sites as different from the board as pieces are, unlike all other bare sites"""
    out = []
    for sites in unlike_empty(plan, shots):
        bare, least, unlike, usual = [], [], [], []
        for s, (ids, off) in sites:
            hidden = covered_by_blocks(plan, s.layout)
            for site, value, some in zip(ids, *off.tolist()):
                contents = s.layout.get(site)
                if not contents and site not in hidden:
                    bare.append((some, s.name, site, ""))
                    least.append(value)
                elif (
                    contents and contents[-1] in plan.pieces and not plan.pieces[contents[-1]].spans
                ):
                    unlike.append((value, s.name, site, contents[-1]))
                    usual.append(some)
        most = float(np.percentile(least, USUAL)) if least else 0.0
        unlike.sort()
        bare.sort(reverse=True)
        for few in range(1, SLIPS + 1):
            if (
                usual
                and len(bare) >= ENOUGH
                and bare[few - 1][0] > max(np.median(usual) / 2, PLAIN_RATIO * bare[few][0])
            ):
                out += [one[1:] for one in bare[:few]]
        for few in range(1, min(SLIPS + 1, len(unlike))):
            if unlike[few - 1][0] <= most and unlike[few - 1][0] * BARE < unlike[few][0]:
                out += [one[1:] for one in unlike[:few]]
    return out


def unlike_empty(
    plan: Plan, shots: list[Shot]
) -> Iterator[list[tuple[Shot, tuple[Sequence[str], np.ndarray]]]]:
    """Per group of sites and photo of pieces: the sites, and most_of() their differences from the
    empty board; nothing if no photo shows the empty board"""
    if all(s.layout for s in shots):
        return
    _, room = fit_lights(plan, shots)
    for group in group_by_size(plan):
        windows = Windows(group.centres, group.side / 2, COMPARED_PX / group.side)
        cuts = [windows.cut(Pyramid(s.image), s.pose) for s in shots]
        logs = [to_reference_logs(cut, light.at(group.centres)) for cut, light in zip(cuts, room)]
        views = [one @ OPPONENT.T for one in logs]
        empty = np.mean([v for v, s in zip(views, shots) if not s.layout], 0)
        yield [(s, (group.ids, most_of(v - empty))) for s, v in zip(shots, views) if s.layout]


def swapped_photos(plan: Plan, shots: list[Shot]) -> list[str]:
    """The photos in which sites listed as occupied hardly differ more from the empty board than
    those listed as bare: the layout belongs to another photo"""
    seen: dict[str, tuple[list[float], list[float]]] = {}
    for sites in unlike_empty(plan, shots):
        for s, (ids, off) in sites:
            hidden = covered_by_blocks(plan, s.layout)
            for site, some in zip(ids, off[1].tolist()):
                laid = bool(s.layout.get(site)) or site in hidden
                seen.setdefault(s.name, ([], []))[laid].append(some)
    return [
        name
        for name, (bare, laid) in seen.items()
        if min(len(bare), len(laid)) >= FEW
        and np.mean(np.array(laid)[:, None] > np.array(bare)) < HARDLY_SHARE
    ]


def most_of(off: np.ndarray) -> np.ndarray:
    """(2, n) the size of differences (n, S, S, 3) between two views, over most of the area and over
    the quarter that differs most, in units of changes by light alone"""
    off = off.copy()
    off[..., 0] -= np.median(off[..., 0], (1, 2), keepdims=True)
    return np.percentile(np.abs(off / LIGHT_ALONE).sum(-1).reshape(len(off), -1), (50, 75), axis=1)


def contradicted_sites(rows: Iterable[Row]) -> list[tuple[str, str, str, str]]:
    """(photo, site, what its layout says, what is read) if a reading is sure that the layout omits
    a piece, or has one too many"""
    out = []
    for r in rows:
        if not r.right and r.got is not None and bool(r.got) != bool(r.want) and r.sure > SURE:
            out.append((r.photo, r.site, ", ".join(r.want), ", ".join(r.got)))
    return out


def traded_sites(rows: Iterable[Row]) -> list[tuple[str, str, str, str, str]]:
    """(photo, site, another, what the layout says of the one, of the other) if each of two pieces
    is read as the other: more likely two pieces exchanged on the board or in the layout than two
    matching misreadings"""
    taken: dict[tuple[str, str, str], str] = {}
    for r in rows:
        if not r.right and r.got is not None and len(r.want) == len(r.got) == 1 and r.sure > LIKELY:
            taken.setdefault((r.photo, r.want[0], r.got[0]), r.site)
    return [
        (photo, site, taken[photo, b, a], a, b)
        for (photo, a, b), site in taken.items()
        if a < b and (photo, b, a) in taken
    ]


def pointing_kinds(plan: Plan, rows: Iterable[Row]) -> list[tuple[str, str]]:
    """Pairs of equally large, elongated kinds that are each read as the other: perhaps they differ
    only in the direction they point, which the plan does not say"""
    taken = {
        (r.want[0], r.got[0])
        for r in rows
        if not r.right and r.got is not None and len(r.want) == len(r.got) == 1
    }
    pairs = [
        (a, b)
        for a, b in taken
        if a < b
        and (b, a) in taken
        and (one := plan.pieces.get(a))
        and (two := plan.pieces.get(b))
        and one.size == two.size
        and one.footprint[0] != one.footprint[1]
        and not (one.directed or two.directed)
    ]
    return sorted(pairs)


def layout_doubts(
    plan: Plan,
    shots: list[Shot],
    rows: Iterable[Row],
    burnt: Sequence[str] = (),
    cut: Sequence[Specimen] = (),
) -> Iterator[Text]:
    """What to look at before anything else; rows: sites of these photos as they are read; burnt:
    photos whose pieces are too bright to be told from a pale board; cut: the cut-out pieces used
    for training"""
    if names := blurred_photos(plan, shots):
        yield say(
            "{photos} is not sharp: take it anew, with the camera at rest",
            photos=", ".join(names),
        )
    wrong = swapped_photos(plan, shots)
    for name in wrong:
        yield say(
            "what lies in {photo} is hardly what its layout says: is that another photo's?",
            photo=name,
        )
    rows = [r for r in rows if r.photo not in wrong]
    pairs = [
        (shots[a.photo].name, a.site, b.site, a.kind, b.kind) for a, b in find_swapped(plan, cut)
    ]
    said = {frozenset(pair[:3]) for pair in pairs}
    pairs = [pair for pair in pairs if pair[0] not in wrong]
    pairs += [pair for pair in traded_sites(rows) if frozenset(pair[:3]) not in said]
    for photo, site, other, a, b in pairs[:MOST]:
        yield say(
            "look at {site} and {other} in {photo}: {a} and {b} seem to have changed places",
            site=site,
            other=other,
            photo=photo,
            a=a,
            b=b,
        )
    if each_other := pointing_kinds(plan, rows):
        yield say(
            "{pairs} are taken for each other: if only the way they point tells "
            "them, write directed = true into the plan",
            pairs=", ".join(f"{a}/{b}" for a, b in each_other),
        )
    clear = [s for s in shots if s.name not in (*burnt, *wrong)]
    odd = {
        (photo, site): (want, "" if want else say("something"))
        for photo, site, want in not_there(plan, clear)
    }
    odd |= {(photo, site): (want, got) for photo, site, want, got in contradicted_sites(rows)}
    for (photo, site), (want, got) in list(odd.items())[:MOST]:
        yield say(
            "look at {site} in {photo}: its layout says {want}, the photo seems to show {got}",
            site=site,
            photo=photo,
            want=want or say("nothing"),
            got=got or say("nothing"),
        )
