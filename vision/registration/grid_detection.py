"""Finds a board of squares or crossings from any viewpoint by evenly spaced straight edges in two
perpendicular directions. Entry point: poses_by_lattice."""

from __future__ import annotations

import cv2
import numpy as np

from vision.geometry.lens import Lens
from vision.geometry.pose import Pose
from vision.geometry.symmetry import is_square, site_spacing
from vision.plan import Plan
from vision.registration.print_map import Picture
from vision.registration.printed_lines import Line, each_way, middle_lines, site_lines

Edges = tuple[np.ndarray, np.ndarray, np.ndarray]  # from project_edges()

LONGER = 960  # longer side of the picture in which edges are searched for
SHORTEST_EDGE, MOST_EDGES = 0.012, 500  # least length, in longer sides; most edges used
# pairs of directions drawn at random, from how many of the longest edges, and how many of the best
# are kept
PAIRS_DRAWN, LONGEST_EDGES, LIKELIEST_PAIRS = 1000, 80, 300
EDGE_MISS_PX = 1.2  # pixels by which an edge may miss its vanishing point
ONE_DIRECTION = np.cos(np.radians(2.5))  # directions closer than this are the same
FEWEST_EDGES, MOST_POSES = 8, 8  # least number of edges; largest number of poses
TRIED = 4  # pairs of directions that are tested for even spacing
# range of the number of squares across the picture, and its step
FEWEST_SQUARES, MOST_SQUARES, SQUARES_STEP = 2.0, 60.0, 0.15
NEAR = 0.12  # how far an edge may be off its line, as a share of a square
PHASES = np.arange(0, 1, 0.04)  # offsets of lines that are tried, as shares of a square
LEAST_SPAN = 0.05  # least extent of a board's lines, as a share of the focal length
TURN = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]], float)  # a quarter turn of the board
# least evenness of edges; share of the best evenness at which larger squares are preferred
EVENLY, LARGER = 0.25, 0.6


def poses_by_lattice(plan: Plan, lens: Lens, picture: Picture) -> list[Pose]:
    """Rough poses at which the lines between a plan's squares, or through its crossings, coincide
    with edges in the picture, up to a half turn (a square board: any turn) and a shift of some
    squares; none if the plan has no such lines. After the Manhattan world of Coughlan and Yuille
    (1999): with a known lens, two of three edges give one direction, and the third gives the
    other."""
    step = site_spacing(plan)
    lattices = [
        crossings
        for lines in (site_lines(plan), middle_lines(plan))
        if (crossings := line_crossings(lines)) is not None
    ]
    if not step.all() or not lattices:
        return []
    ends, focal = edges_in(lens, picture)
    found = []
    for axes in board_directions(ends, focal) if len(ends) >= FEWEST_EDGES else ():
        for turned in (axes,) if is_square(plan) else (axes, axes @ TURN):
            edges = project_edges(ends, turned)
            evenly, scale, at = grid_evenness(edges, step)
            found += [
                place_grid(plan, lens, picture.size, turned, scale, at, edges, lattice)
                for lattice in lattices
                if evenly > EVENLY
            ]
    return [pose for _, pose in sorted(found, key=lambda f: -f[0])][:MOST_POSES]


def line_crossings(lines: list[Line]) -> tuple[np.ndarray, np.ndarray] | None:
    """(across,), (down,) mm: positions of the lines down and across the board; None unless there
    are several of both"""
    across, down = (
        np.array(sorted({round(a[axis], 1) for a, _ in those}))
        for axis, those in enumerate(each_way(lines))
    )
    return (across, down) if min(len(across), len(down)) >= 3 else None


def edges_in(lens: Lens, picture: Picture) -> tuple[np.ndarray, float]:
    """(N, 2, 3) rays of the ends of straight edges, the longest first, and the number of pixels per
    unit of a ray"""
    scale = min(LONGER / max(picture.size), 1.0)
    small = picture.level(0)
    if scale < 1:
        small = cv2.resize(small, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    seen = cv2.createLineSegmentDetector(0).detect(small)[0]
    if seen is None:
        return np.zeros((0, 2, 3)), 1.0
    px = seen.reshape(-1, 2, 2).astype(float)
    long = np.linalg.norm(px[:, 1] - px[:, 0], axis=1)
    order = np.argsort(-long)[:MOST_EDGES]
    px = (px[order[long[order] > SHORTEST_EDGE * max(small.shape)]] + 0.5) / scale - 0.5
    rays = cv2.undistortPoints(px.reshape(-1, 1, 2), lens.K(picture.size), lens.dist)
    rays = rays.reshape(-1, 2, 2)
    return np.dstack([rays, np.ones(rays.shape[:2])]), lens.focal * max(picture.size) * scale


def board_directions(ends: np.ndarray, focal: float) -> list[np.ndarray]:
    """(3, 3) each, the best first: as columns, the board's directions across, down and into it, in
    camera coordinates"""
    rng = np.random.default_rng(0)
    normal = np.cross(ends[:, 0], ends[:, 1])
    long = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) * focal
    i, j, k = rng.integers(0, min(LONGEST_EDGES, len(ends)), (3, PAIRS_DRAWN))
    first = np.cross(normal[i], normal[j])
    second = np.cross(normal[k], first)
    size = np.linalg.norm(first, axis=1), np.linalg.norm(second, axis=1)
    good = (size[0] > 1e-6) & (size[1] > 1e-6)
    first, second = first[good] / size[0][good, None], second[good] / size[1][good, None]
    scores = [
        np.where(vanishing_misses(ends, d) * focal < EDGE_MISS_PX, long, 0).sum(1)
        for d in (first, second)
    ]
    total = np.sqrt(scores[0] * scores[1])  # there must be edges in both directions
    found: list[np.ndarray] = []
    for best in np.argsort(-total)[:LIKELIEST_PAIRS]:
        axes = np.column_stack([first[best], second[best], np.cross(first[best], second[best])])
        if any(same_axes(axes, other) for other in found):
            continue
        for _ in range(3):
            axes = refine_axes(ends, long, axes, focal)
        if not any(same_axes(axes, other) for other in found):
            found.append(face_camera(axes))
        if len(found) == TRIED:
            break
    return found


def same_axes(axes: np.ndarray, other: np.ndarray) -> bool:
    """Whether two sets of axes are the same up to quarter turns"""
    return bool(np.abs(axes.T @ other).max(0).min() > ONE_DIRECTION)


def vanishing_misses(ends: np.ndarray, way: np.ndarray) -> np.ndarray:
    """(D, N) by how much edges (N, 2, 3) miss the vanishing points of directions (D, 3), at their
    ends, in units of rays"""
    line = np.cross(ends.mean(1)[None], way[:, None])
    off = np.abs((line * ends[None, :, 0]).sum(-1))
    return off / np.maximum(np.linalg.norm(line[..., :2], axis=-1), 1e-12)


def refine_axes(ends: np.ndarray, long: np.ndarray, axes: np.ndarray, focal: float) -> np.ndarray:
    """The axes, fitted to all edges that run along the first or the second"""
    normal = np.cross(ends[:, 0], ends[:, 1])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    ways = []
    for n in (0, 1):
        some = vanishing_misses(ends, axes[:, n][None])[0] * focal < 2 * EDGE_MISS_PX
        if some.sum() < 2:
            return axes
        weighed = normal[some] * long[some, None]
        way = np.linalg.eigh(weighed.T @ weighed)[1][:, 0]
        ways.append(way * np.sign(way @ axes[:, n]))
    U, _, V = np.linalg.svd(np.column_stack([*ways, np.cross(*ways)]))
    return U @ V if np.linalg.det(U @ V) > 0 else axes


def face_camera(axes: np.ndarray) -> np.ndarray:
    """The same axes with the board facing the camera, and the direction across as nearly to the
    right as possible"""
    if axes[2, 2] < 0:
        axes = axes * (1, -1, -1)
    return max((axes @ np.linalg.matrix_power(TURN, k) for k in range(4)), key=lambda a: a[0, 0])


def grid_evenness(edges: Edges, step: np.ndarray) -> tuple[float, float, np.ndarray]:
    """The evenness of edges in both directions, 0 to 1; the board's distance along the third axis
    in mm; and (2,) the offset of its lines from that axis, in steps"""
    places, along, long = edges
    sets = [(places[along == n, n] / step[n], long[along == n]) for n in (0, 1)]
    if min(len(values) for values, _ in sets) < FEWEST_EDGES // 2:
        return 0.0, 0.0, np.zeros(2)
    wide = max(float(np.ptp(np.quantile(values, (0.05, 0.95)))) for values, _ in sets)
    if wide * step.max() < LEAST_SPAN:
        return 0.0, 0.0, np.zeros(2)
    rate = np.arange(FEWEST_SQUARES, MOST_SQUARES, SQUARES_STEP) / wide
    waves = [
        (np.exp(2j * np.pi * rate[:, None] * values) @ weight) / weight.sum()
        for values, weight in sets
    ]
    evenly = np.sqrt(np.abs(waves[0]) * np.abs(waves[1]))
    # even spacing with some step is also even with half of it: take the largest squares
    k = int(np.flatnonzero(evenly > LARGER * evenly.max())[0])
    while k + 1 < len(rate) and evenly[k + 1] > evenly[k]:
        k += 1
    rates = rate[k] * np.linspace(0.9, 1.1, 41)
    fits = [on_lines(values, weight, rates) for values, weight in sets]
    best = int(sum(fit.max(1) for fit in fits).argmax())
    at = np.array([PHASES[fit[best].argmax()] for fit in fits])
    return float(evenly[k]), float(rates[best]), at


def on_lines(values: np.ndarray, weight: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """(R, P) the weight that lies on lines, for each rate (lines per unit) and each of PHASES"""
    off = (rates[:, None, None] * values - PHASES[:, None] + 0.5) % 1 - 0.5
    return np.clip(1 - (off / NEAR) ** 2, 0, None) @ weight


def project_edges(ends: np.ndarray, axes: np.ndarray) -> Edges:
    """(N, 2) middles of edges on a board one unit away, (N,) the axis along which each is constant,
    (N,) their lengths in the picture; edges along neither axis are left out"""
    there, long = ends @ axes, np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    ahead = (there[..., 2] > 0.1).all(1)
    xy = there[ahead, :, :2] / there[ahead, :, 2:]
    run = np.abs(xy[:, 1] - xy[:, 0])
    straight = run.min(1) < 0.06 * run.max(1)
    return xy[straight].mean(1), run[straight].argmin(1), long[ahead][straight]


def place_grid(
    plan: Plan,
    lens: Lens,
    size: tuple[int, int],
    axes: np.ndarray,
    scale: float,
    at: np.ndarray,
    edges: Edges,
    lattice: tuple[np.ndarray, np.ndarray],
) -> tuple[float, Pose]:
    """The pose of a board at this distance with lines at this offset, shifted by whole squares so
    that most edges lie on it; and how much more edge, roughly in radians, is on its lines than
    between them"""
    middles, along, long = edges
    mm, step = middles * scale, site_spacing(plan)
    aside = np.array([at[n] * step[n] - lattice[n][0] for n in (0, 1)])
    lines = np.where(along, mm[:, 1] / step[1] - at[1], mm[:, 0] / step[0] - at[0])
    off = np.abs((lines + 0.5) % 1 - 0.5)
    worth = long * np.where(off < NEAR, 1.0, -2 * NEAR / (1 - 2 * NEAR))
    for n in (0, 1):
        seen = mm[:, n] - aside[n]
        first, last = np.floor((seen.min() - plan.size[n]) / step[n]), np.ceil(seen.max() / step[n])
        shifts = np.arange(first, last + 1)
        inside = [
            worth[(seen > (k - 0.1) * step[n]) & (seen < (k + 0.1) * step[n] + plan.size[n])].sum()
            for k in shifts
        ]
        best = np.flatnonzero(np.array(inside) >= max(inside) - 1e-3 * abs(max(inside)))
        aside[n] += shifts[best[len(best) // 2]] * step[n]
    t = axes @ np.array([*aside, scale])
    within = ((mm > aside - 0.1 * step) & (mm < aside + plan.size + 0.1 * step)).all(1)
    pose = Pose(lens.K(size), lens.dist, cv2.Rodrigues(axes)[0].ravel(), t, size, "print")
    return float(worth[within].sum()), pose
