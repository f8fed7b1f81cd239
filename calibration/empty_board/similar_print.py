"""Guesses the print of sites that no photo shows empty from similarly printed sites. Boards repeat
themselves: a square is printed like its mirror image, its rotation, one some squares off, or one
with the same surroundings. Which of these rules holds on a board is learnt from its other sites.
Entry point: `borrowed_print`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

import cv2
import msgspec
import numpy as np

from vision.evidence.site_evidence import Contents
from vision.geometry.occlusion import lie_loose
from vision.geometry.site_groups import SizeGroup, group_by_size, outline_mask
from vision.plan import Plan, Site

COMPARED_PX = 12  # pixels along a site where prints are compared
SITES_AROUND = 3  # sites along a window of a site's surroundings
WELL = 0.9  # share of a site that must be seen for it to serve as a source
TELLS = 0.4  # ... if too few sites are seen that well; the rule's error is then at least AGREED
FEWEST_PAIRS = 4  # the fewest pairs of sites for judging a rule
NEAR_SHARE = 0.1  # of a site's side: how inexactly a rule may map one site onto another
STEPS = 300  # the number of shortest steps to another site that are tried
PRINT_OFFSET = 8.0  # grey levels added before a logarithm
AGREED = 0.12  # log units by which photos of the same print differ
# histogram bins per colour; share of a site's pixels with the rarest colours, which pieces may also
# have
TONES, RARE = 16, 0.1
PIECE_RIM_MM = 1.5  # mm that edges of pieces extend around an area that shows only pieces
# log units: assumed error of an inpainted site, for which there is no rule
UNKNOWN = 1.0


class Board(msgspec.Struct, eq=False):
    """A board from above. picture: (h, w, 3) float32 grey levels; known: (h, w) bool, where it was
    seen bare; scale: pixels a mm"""

    picture: np.ndarray
    known: np.ndarray
    scale: float

    def of(self, site: Site) -> np.ndarray:
        """(h, w) bool: the pixels of a site"""
        return outline_mask(site.outlines, lambda mm: mm * self.scale, self.known.shape)


class Rule(msgspec.Struct, frozen=True, eq=False):
    """like: (N,) the site that each of a group looks like, -1: none; turn: (2, 2) how the picture
    of that one has to be turned; off: the rule's error, log units, one standard deviation"""

    like: np.ndarray
    turn: np.ndarray
    off: float


def borrowed_print(
    plan: Plan,
    board: Board,
    seen: Sequence[np.ndarray],
    layouts: Sequence[Mapping[str, Contents]],
    busy: set[str],
) -> tuple[np.ndarray, dict[str, float]]:
    """(the complete picture of the board, and for guessed sites how far off it may be, log units).

    seen: the board from above in each photo, all in the same light; layouts: what lies there; busy:
    the occupied sites"""
    picture, known = board.picture.copy(), board.known.copy()
    guessed: dict[str, float] = {}
    once: list[tuple[Site, int]] = []
    for site in (s for s in plan.site if s.reads == "cluster" and s.id in busy):
        here, lying = board.of(site), [layout.get(site.id, ()) for layout in layouts]
        loose = [n for n, contents in enumerate(lying) if lie_loose(plan, site, contents)]
        inside = here & ~known
        if inside.sum() <= (1 - WELL) * here.sum() or not loose:
            continue
        if len(loose) == 1:
            once.append((site, loose[0]))
            continue
        picture[inside], strange = likeliest_colours(
            picture[here & known], [seen[n][inside] for n in loose]
        )
        rare = np.zeros(known.shape, np.uint8)
        rare[inside] = strange
        wide = 2 * round(PIECE_RIM_MM * board.scale) + 1
        known |= inside & (cv2.dilate(rare, np.ones((wide, wide), np.uint8)) == 0)
        guessed[site.id] = AGREED
    piles = tuple(msgspec.structs.replace(s, reads="pile") for s in plan.site)
    by_size = group_by_size(msgspec.structs.replace(plan, site=piles))
    told = known.copy()
    for site, n in once:
        like = np.zeros(known.shape, bool)
        for other in next(group.ids for group in by_size if site.id in group.ids):
            if may_be_alike(set(site.tags), set(plan.sites[other].tags)):
                like |= board.of(plan.sites[other]) & told
        if like.any():
            inside = board.of(site) & ~known
            sizes = [max(plan.pieces[k].footprint) for k in layouts[n][site.id] if k != "?"]
            strange = colour_rarity(picture[like], seen[n], inside)
            new = inside & ~piece_mask(board.scale, sizes, strange)
            picture[new] = seen[n][new]
            known |= new
            guessed[site.id] = AGREED
    board = Board(painted_over(picture, known), known, board.scale)
    for group in by_size:
        windows, sure = windows_of(board, group, 1)
        share = sure.mean((1, 2))
        if share.min() < 1:
            doubt = np.full(len(share), UNKNOWN)
            if (share >= TELLS).sum() >= FEWEST_PAIRS:
                tags = [set(plan.sites[i].tags) for i in group.ids]
                doubt = borrow_sites(board, group, tags, windows, sure)
            guessed = {
                s: float(d)
                for s, d, own in zip(group.ids, doubt, share)
                if own < WELL and s in busy
            } | guessed
    return painted_over(board.picture, board.known), guessed


def may_be_alike(tags: Set[str], others: Set[str]) -> bool:
    """Whether sites with these tags may be printed alike: not if the tags differ completely"""
    return bool(tags & others) or not (tags and others)


def colour_rarity(bare: np.ndarray, seen: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """(h, w) float32: how unlike the bare print of similar sites, (m, 3), each pixel looks: the log
    rarity of its colour there; 0 outside. seen: (h, w, 3), inside: (h, w)"""
    logs = np.log(np.maximum(np.vstack([bare, seen[inside]]), 0) + PRINT_OFFSET)
    common = how_common(logs, len(bare))[len(bare) :]
    out = np.zeros(inside.shape, np.float32)
    out[inside] = -np.log(np.maximum(common / max(common.max(), 1e-9), RARE**2))
    return out


def piece_mask(scale: float, sizes: Sequence[float], strange: np.ndarray) -> np.ndarray:
    """(h, w) bool: where pieces of such sizes, mm, lie on a site, given how strange it looks, (h,
    w): at its strangest spots, the largest piece first"""
    out, strange = np.zeros(strange.shape, np.uint8), strange.copy()
    rows, columns = np.flatnonzero(strange.any(1)), np.flatnonzero(strange.any(0))
    if not len(rows):
        return out > 0
    part = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    for size in sorted(sizes, reverse=True):
        wide = 2 * round(size / 2 * scale) + 1
        disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (wide, wide)).astype(np.float32)
        found = cv2.filter2D(strange[part], -1, disc, borderType=cv2.BORDER_CONSTANT)
        y, x = np.unravel_index(found.argmax(), found.shape)
        at = int(x + part[1].start), int(y + part[0].start)
        cv2.circle(out, at, round((size / 2 + PIECE_RIM_MM) * scale), 1, -1)
        strange[out > 0] = 0
    return out > 0


def borrow_sites(
    board: Board, group: SizeGroup, tags: Sequence[Set[str]], windows: np.ndarray, sure: np.ndarray
) -> np.ndarray:
    """Completes the board in place: fills sites not fully seen by the rules that hold for a group,
    the surest first, since these are then sources for others. windows (N, S, S, 3), as far as sure
    (N, S, S). Returns (N,) log units by which each site may be off"""
    rules = list(rules_of(board, group, tags, windows, sure))
    share = sure.mean((1, 2))
    doubt = np.where(share >= WELL, 0, np.inf)
    lent = np.where((share < WELL) & (share >= TELLS), AGREED, doubt)
    like = np.array([r.like for r in rules], int).reshape(-1, len(share))
    apart = [off_by(windows, sure, windows[r.like], sure[r.like], r.turn) for r in rules]
    off = np.array([np.hypot(r.off, a) for r, a in zip(rules, apart)]).reshape(like.shape)
    off[like < 0] = np.inf
    todo = set(np.flatnonzero(share < 1).tolist())
    while todo:
        here = np.array(sorted(todo))
        each = np.hypot(off[:, here], lent[like[:, here]])
        if not np.isfinite(each).any():
            break
        n = int(each.min(0).argmin())
        for r in np.argsort(each[:, n]):
            if not np.isfinite(each[r, n]) or paste_rule(board, group, here[n], rules[r]):
                break
        todo.remove(int(here[n]))
        doubt[here[n]] = min(doubt[here[n]], each[:, n].min())
        lent[here[n]] = min(lent[here[n]], doubt[here[n]])
    return np.minimum(doubt, UNKNOWN)


def windows_of(board: Board, group: SizeGroup, wide: float) -> tuple[np.ndarray, np.ndarray]:
    """((N, S, S, 3) log, (N, S, S) bool: known): windows around the sites of a group, `wide` times
    as wide as these"""
    side = round(COMPARED_PX * wide)
    logs, sure = np.log(np.maximum(board.picture, 0) + PRINT_OFFSET), board.known.astype(np.float32)
    zoom = group.side * board.scale / COMPARED_PX  # board pixels per window pixel
    if zoom > 1.5:
        logs, sure = (cv2.blur(a, (round(zoom),) * 2) for a in (logs, sure))
    windows, seen, flags = [], [], cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    for centre in group.centres:
        at = centre * board.scale - 0.5 - zoom * (side / 2 - 0.5)
        move, size = np.float32([[zoom, 0, at[0]], [0, zoom, at[1]]]), (side, side)
        repeat = cv2.BORDER_REPLICATE
        windows.append(cv2.warpAffine(logs, move, size, flags=flags, borderMode=repeat))
        seen.append(cv2.warpAffine(sure, move, size, flags=flags))
    return np.array(windows), np.array(seen) > 0.99


def rules_of(
    board: Board, group: SizeGroup, tags: Sequence[Set[str]], windows: np.ndarray, sure: np.ndarray
) -> Iterator[Rule]:
    """Candidate rules for a group's sites, with tags (N), each with its error on the sites that
    were seen: windows (N, S, S, 3), sure (N, S, S). Sites with different outlines or completely
    different tags are not alike"""
    straight, share = np.eye(2), sure.mean((1, 2))
    around, known = windows_of(board, group, SITES_AROUND)
    middle = slice((around.shape[1] - COMPARED_PX) // 2, (around.shape[1] + COMPARED_PX) // 2)
    known[:, middle, middle] = False
    may = np.abs(group.boxes[:, None] - group.boxes).max(2) < NEAR_SHARE * group.side
    may &= np.array([[may_be_alike(a, b) for b in tags] for a in tags])
    for like, turn in [
        *places_alike(group),
        (surrounded_alike(around, known, share >= WELL), straight),
    ]:
        like = np.where(may[np.arange(len(like)), like], like, -1)
        pairs = (like >= 0) & (like != np.arange(len(like)))
        well, half = (
            np.flatnonzero(pairs & (share >= least) & (share[like] >= least))
            for least in (WELL, TELLS)
        )
        both, loose = (well, 0.0) if len(well) >= FEWEST_PAIRS else (half, AGREED)
        if len(both) < FEWEST_PAIRS:
            continue
        for way in [straight] if (turn == straight).all() else [straight, turn]:
            off = off_by(windows[both], sure[both], windows[like[both]], sure[like[both]], way)
            yield Rule(like, way, float(np.sqrt((off**2).mean() + loose**2)))


def places_alike(group: SizeGroup) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """((N,) the site onto which each of the group's is mapped when mirrored, turned or moved by
    some sites, -1: none; (2, 2) how it is turned)"""
    centres, middle = group.centres, (group.centres.min(0) + group.centres.max(0)) / 2

    def at(places: np.ndarray) -> np.ndarray:
        far = np.abs(places[:, None] - centres).max(2)
        like = far.argmin(1)
        return np.where(far[np.arange(len(like)), like] < NEAR_SHARE * group.side, like, -1)

    for turns in range(4):
        for mirror in (1, -1):
            a = np.rint(np.linalg.matrix_power([[0, -1], [1, 0]], turns)) @ np.diag([mirror, 1])
            if (a != np.eye(2)).any():
                yield at((centres - middle) @ a.T + middle), a
    near = NEAR_SHARE * group.side
    steps = (centres[None] - centres[:, None]).reshape(-1, 2)
    steps = np.unique(np.rint(steps / near).astype(int), axis=0) * NEAR_SHARE * group.side
    for step in steps[np.argsort(np.linalg.norm(steps, axis=1), kind="stable")][1 : STEPS + 1]:
        yield at(centres + step), np.eye(2)


def surrounded_alike(around: np.ndarray, sure: np.ndarray, told: np.ndarray) -> np.ndarray:
    """(N,) for each site, the seen one (told, (N,)) with the most similar surroundings, as far as
    both were seen; -1: none"""
    n = len(around)
    k = sure.reshape(n, -1).astype(np.float32)
    off, both = np.zeros((n, n), np.float32), k @ k.T
    for c in range(3):
        a = around[..., c].reshape(n, -1)
        off += (k * a * a) @ k.T + k @ (k * a * a).T - 2 * (k * a) @ (k * a).T
    off = off / np.maximum(both, 1)
    off[both < 0.25 * both.max(initial=1)] = np.inf
    off[:, ~told] = np.inf
    np.fill_diagonal(off, np.inf)
    return np.where(np.isfinite(off.min(1)), off.argmin(1), -1)


def lying_so(windows: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Windows (n, S, S, ...) mirrored or turned by a matrix (2, 2)"""
    if abs(turn[0, 1]) > 0.5:  # x and y change places
        windows, turn = windows.swapaxes(1, 2), turn @ np.array([[0, 1], [1, 0]])
    return windows[:, :: int(turn[1, 1]), :: int(turn[0, 0])]


def off_by(
    windows: np.ndarray, sure: np.ndarray, others: np.ndarray, known: np.ndarray, turn: np.ndarray
) -> np.ndarray:
    """(n,) the difference of windows (n, S, S, 3) from others turned so, log units, where both were
    seen: sure, known (n, S, S)"""
    both = sure & lying_so(known, turn)
    off = (((windows - lying_so(others, turn)) ** 2).mean(-1) * both).sum((1, 2))
    return np.sqrt(off / np.maximum(both.sum((1, 2)), 1))


def paste_rule(board: Board, group: SizeGroup, site: int, rule: Rule) -> bool:
    """Fills the unknown part of a site by a rule, in place; returns whether all of it is known
    then"""
    half = int(np.ceil(group.side / 2 * board.scale))
    here, there = group.centres[[site, rule.like[site]]] * board.scale - 0.5
    at = np.rint(here).astype(int)
    move = np.column_stack([rule.turn.T, there + rule.turn.T @ (at - half - here)]).astype(
        np.float32
    )
    size = (2 * half + 1,) * 2
    how = {"flags": cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, "borderMode": cv2.BORDER_CONSTANT}
    shown = cv2.warpAffine(board.picture, move, size, **how)
    sure = cv2.warpAffine(board.known.astype(np.float32), move, size, **how) > 0.99
    low, high = np.maximum(at - half, 0), np.minimum(at + half + 1, board.known.shape[1::-1])
    cells = slice(low[1], high[1]), slice(low[0], high[0])
    part = tuple(slice(c.start - a + half, c.stop - a + half) for c, a in zip(cells, at[::-1]))
    shown, sure = shown[part], sure[part]
    both, brighter = sure & board.known[cells], 0.0
    if both.any():
        ratio = (board.picture[cells][both] + PRINT_OFFSET) / (shown[both] + PRINT_OFFSET)
        brighter = float(np.median(np.log(ratio)))
    new = sure & ~board.known[cells]
    board.picture[cells][new] = shown[new] * np.exp(np.clip(brighter, -AGREED, AGREED))
    board.known[cells] |= new
    return bool(board.known[cells].all())


def likeliest_colours(
    bare: np.ndarray, seen: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The bare colours of a site that has pieces on it in all photos. seen: per photo (n, 3)
    pixels. Returns ((n, 3) bare colours, (n,) bool: pixels hidden in all photos). The bare colour
    is the commonest among those that photos agree on and the known ones, (m, 3)"""
    logs = np.log(np.maximum(np.array(seen), 0) + PRINT_OFFSET)  # (photos, n, 3)
    agreed = np.ptp(logs, axis=0).max(1) < AGREED
    sure = np.vstack([np.log(bare + PRINT_OFFSET), logs.mean(0)[agreed]])
    if len(sure) < FEWEST_PAIRS:
        return np.median(seen, 0), np.ones(logs.shape[1], bool)
    how = how_common(np.vstack([sure, logs.reshape(-1, 3)]), len(sure))
    of, how = how[: len(sure)], how[len(sure) :].reshape(logs.shape[:2])  # (photos, n)
    best = how.argmax(0)
    rare = ~agreed & (how.max(0) < np.quantile(of, RARE))
    likeliest = np.array(seen)[best, np.arange(len(best))]
    return np.where(agreed[:, None], np.mean(seen, 0), likeliest), rare


def how_common(logs: np.ndarray, many: int) -> np.ndarray:
    """(n,) how common each of (n, 3) log colours is among the first `many` of them"""
    low, wide = logs[many:].min(0), np.maximum(np.ptp(logs[many:], axis=0), AGREED)
    cells = tuple(np.clip((logs - low) / wide * TONES, 0, TONES - 1).astype(int).T)
    common = np.zeros((TONES,) * 3, np.float32)
    np.add.at(common, tuple(c[:many] for c in cells), 1)
    for axis in range(3):
        common = np.apply_along_axis(np.convolve, axis, common, [0.25, 0.5, 0.25], "same")
    return common[cells]


def painted_over(picture: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The picture with its unknown parts inpainted from their surroundings"""
    levels = np.clip(np.rint(picture), 0, 255).astype(np.uint8)
    painted = cv2.inpaint(levels, (~known).astype(np.uint8), 3, cv2.INPAINT_TELEA)
    return np.where(known[..., None], picture, painted).astype(np.float32)
