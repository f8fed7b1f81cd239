"""Bundle adjustment: one lens, each photo's pose, each card's place and the print's points, from
all photos at once."""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import msgspec
import numpy as np

from vision.geometry.lens import USUAL_FOCAL, Lens
from vision.geometry.pose import Pose
from vision.registration.board_edges import BOARD_SIDES, EdgePoints

# measurement errors (standard deviations), pixels at 1640 wide
CARD_PX, EDGE_PX, TRACK_PX, TAP_PX = 0.4, 0.5, 0.5, 5.0
TILE_PX = 4.0  # loose tiles lie a millimetre or two off, pushed by their neighbours
CARD_MM, CARD_TURN = 2.0, np.radians(3)  # how inexactly cards are taped on by hand
# share by which a card's size may be off: printers scale, and overexposed paper bleeds into the
# black
CARD_SIZE = 0.02
FOCAL_SD, K1_SD, K2_SD = 0.25, 0.1, 0.05  # how much lenses differ
# tapped corners alone say nothing about the lens, nor tracked points about its distortion: then
# these deviations are multiplied by this
ALONE = 0.1
# error common to all sides of a board, from its shadow, its thickness and glare: pixels at 1640
# wide
SIDES_OUT = 0.6
SIDE_ASKEW = 0.25  # error of a side's direction, as a share of the error of its position
ADJUSTMENT_ROUNDS = 15
NU, LIMBER = 6, 8  # see Bundle.strain; the degrees of freedom of a pose and a lens


class PhotoSight(msgspec.Struct, eq=False):
    """What one photo shows. cards: id -> (4, 2) px; edges: of the board; taps: (4, 2) px or None;
    tracks: number of a printed point -> (2,) px; tiles: (N, 2) mm and (N, 2) px of the middles of
    loose tiles, and their height."""

    size: tuple[int, int]
    cards: dict[int, np.ndarray] = {}
    edges: EdgePoints | None = None
    taps: np.ndarray | None = None
    tracks: dict[int, np.ndarray] = {}
    tiles: tuple[np.ndarray, np.ndarray, float] | None = None

    @property
    def has_edges(self) -> bool:
        """Whether any side or line is seen; none may have been looked for, or found"""
        return self.edges is not None and len(self.edges.mm) > 0


class Bundle(msgspec.Struct, eq=False):
    """lens: three numbers, log focal, k1, k2; poses: (P, 7) rvec, tvec and by how much cards look
    too big; cards: id -> (x, y, turn) offset from its nominal place; points: (T, 2) mm of printed
    points; bend: the prior value of k1; wider: pixels at 1640 wide by which all sides are seen too
    far out; rise: mm by which the board's sides, and so the tapped corners, are above the printed
    surface, as with a rim."""

    ideal: dict[int, np.ndarray]
    corners: np.ndarray
    sights: list[PhotoSight]
    lens: np.ndarray
    poses: np.ndarray
    cards: dict[int, np.ndarray]
    points: np.ndarray
    bend: float = 0.0
    wider: float = 0.0
    rise: float = 0.0

    def card(self, i: int, bigger: float = 0.0) -> np.ndarray:
        """(4, 2) mm of a card's corners"""
        x, y, turn = self.cards[i]
        c, s = np.cos(turn), np.sin(turn)
        middle = self.ideal[i].mean(0)
        turned = (1 + bigger) * (self.ideal[i] - middle) @ np.array([[c, s], [-s, c]])
        return turned + middle + (x, y)

    def as_lens(self) -> Lens:
        return Lens(float(np.exp(self.lens[0])), float(self.lens[1]), float(self.lens[2]))

    def pose(self, n: int) -> Pose:
        lens, size = self.as_lens(), self.sights[n].size
        rvec, tvec = self.poses[n, :3].copy(), self.poses[n, 3:6].copy()
        return Pose(lens.K(size), lens.dist, rvec, tvec, size)

    def solve(self) -> float:
        """Levenberg-Marquardt in place; returns the root mean square of the residuals, each in
        units of its standard deviation."""
        damp = 1e-3
        r, J = self._residuals()
        cost = robust_cost(r)
        for _ in range(ADJUSTMENT_ROUNDS):
            w = robust_weight(r)
            A, g = J.T @ (J * w[:, None]), J.T @ (w * r)
            for _ in range(6):
                step = -np.linalg.solve(A + damp * np.diag(np.diag(A) + 1e-9), g)
                kept = self._vector()
                self._assign(kept + step)
                new_r, new_J = self._residuals()
                new_cost = robust_cost(new_r)
                if new_cost < cost:
                    damp = max(damp / 5, 1e-7)
                    break
                self._assign(kept)
                damp *= 8
            else:
                break
            done = cost - new_cost < 1e-5 * cost
            r, J, cost = new_r, new_J, new_cost
            if done:
                break
        return float(np.sqrt(np.mean(np.minimum(r**2, 9))))

    def uncertainty(self, n: int, mm: np.ndarray) -> float:
        """Root mean square uncertainty of points (N, 2) mm of the board in photo n, in pixels,
        given all measurements"""
        r, J = self._residuals()
        # From the assumed deviations: corners that fit each other well say nothing about how
        # exactly things were taped and laid.
        C = np.linalg.pinv(J.T @ (J * robust_weight(r)[:, None]))
        which = np.r_[0:3, 3 + 7 * n : 9 + 7 * n]
        pose = self.pose(n)
        flat = np.column_stack([mm, np.zeros(len(mm))])
        jac = cv2.projectPoints(flat, pose.rvec, pose.tvec, pose.K, pose.dist)[1]
        G = np.column_stack([(jac[:, 6] + jac[:, 7]) * pose.K[0, 0], jac[:, 10:12], jac[:, :6]])
        return float(np.sqrt(np.einsum("ij,jk,ik->", G, C[np.ix_(which, which)], G) / len(mm)))

    def out(self, n: int) -> float:
        """Pixels by which all sides are seen too far out in photo n"""
        return self.wider * max(self.sights[n].size) / 1640

    def strain(self) -> float:
        """How many times worse than assumed the board's sides, and printed lines if there are any,
        fit one board seen through one lens. The assumed error counts like NU measurements; lines
        are weighted by how well they already fit."""
        off, sides, lines = 0.0, set(), False
        for n, sight in enumerate(self.sights):
            for at, ways, share in self._sides(sight):
                edges = sight.edges.only(at)
                if edges.line[0] >= BOARD_SIDES:
                    lines = True
                    continue
                apart = edges.distances(self.pose(n), self.rise) + self.out(n)
                each = np.square(ways.T @ apart * share / (EDGE_PX * max(sight.size) / 1640))
                off += float(np.minimum(each, 9).sum())  # capped: outliers do not count
                sides.add(int(edges.line[0]))
        free = 2 * len(sides) - (0 if lines else LIMBER)
        return float(np.sqrt((NU + off) / (NU + max(free, 0))))

    def _vector(self) -> np.ndarray:
        cards = [self.cards[i] for i in sorted(self.cards)]
        points = self.points.ravel()
        return np.concatenate([self.lens, self.poses.ravel(), *cards, points, [self.wider]])

    def _assign(self, v: np.ndarray) -> None:
        p, c = 7 * len(self.poses), 3 * len(self.cards)
        self.lens = v[:3].copy()
        self.poses = v[3 : 3 + p].reshape(-1, 7).copy()
        for k, i in enumerate(sorted(self.cards)):
            self.cards[i] = v[3 + p + 3 * k : 6 + p + 3 * k].copy()
        self.points, self.wider = v[3 + p + c : -1].reshape(-1, 2).copy(), float(v[-1])

    def _residuals(self) -> tuple[np.ndarray, np.ndarray]:
        """(R,) residuals in units of their standard deviations, (R, parameters) their
        derivatives"""
        width = 4 + self.poses.size + 3 * len(self.cards) + self.points.size
        rs, Js = [], []
        for n, sight in enumerate(self.sights):
            r, J = self._sight(n, sight, width)
            rs.append(r)
            Js.append(J)
        placed = any(s.cards or s.has_edges or s.tiles is not None for s in self.sights)
        # Nobody knows where the print's points lie, so that they do not measure distortion: photos
        # cropped by hand differ as if the lens bent, and that would bend the board, too.
        tracked = any(s.tracks for s in self.sights)
        told = np.array([placed or tracked, placed, placed])
        lens = np.array([FOCAL_SD, K1_SD, K2_SD]) * np.where(told, 1.0, ALONE)
        sd = np.concatenate(
            [
                lens,
                *[[np.inf] * 6 + [CARD_SIZE]] * len(self.poses),
                *[[CARD_MM, CARD_MM, CARD_TURN]] * len(self.cards),
                np.full(self.points.size, np.inf),
                [SIDES_OUT],
            ]
        )
        middle = np.zeros(width)
        middle[:2] = np.log(USUAL_FOCAL), self.bend
        held = np.isfinite(sd)
        rs.append(((self._vector() - middle) / sd)[held])
        return np.concatenate(rs), np.vstack([*Js, np.diag(1 / sd)[held]])

    def _sight(self, n: int, sight: PhotoSight, width: int) -> tuple[np.ndarray, np.ndarray]:
        """One photo's residuals and their derivatives"""
        scale = max(sight.size) / 1640
        # mm with the height as a third column, downwards; px; direction that is measured; sd; the
        # numbers of parameters that move the mm, and the derivatives by these
        rows: list[tuple] = []
        order = sorted(self.cards)
        first_card = 3 + self.poses.size
        bigger = self.poses[n, 6]
        first_point = first_card + 3 * len(order)

        def add(points, seen, normals, s, chain=None, height=0.0):
            k = len(points)
            mm = np.column_stack([points, np.broadcast_to(-height, k)])
            rows.append((mm, seen, normals, np.broadcast_to(s * scale, k), chain))

        def add_both(points, seen, s, chain=None, height=0.0):
            for axis in ((1.0, 0.0), (0.0, 1.0)):
                add(points, seen, np.tile(axis, (len(points), 1)), s, chain, height)

        for i, c in sight.cards.items():
            x, y, turn = self.cards[i]
            off = self.card(i, bigger) - self.ideal[i].mean(0) - (x, y)
            chain = np.zeros((4, 2, 4))
            chain[:, 0, 0] = chain[:, 1, 1] = 1
            chain[:, 0, 2], chain[:, 1, 2] = -off[:, 1], off[:, 0]
            chain[:, :, 3] = off / (1 + bigger)
            first = first_card + 3 * order.index(i)
            add_both(
                self.card(i, bigger), c, CARD_PX, ([first, first + 1, first + 2, 9 + 7 * n], chain)
            )
        if sight.has_edges:
            first_edge = sum(len(row[0]) for row in rows)
            edges = sight.edges
            rise = np.where(edges.line < BOARD_SIDES, self.rise, 0.0)
            add(edges.mm, edges.px, edges.normal, EDGE_PX, None, rise)
        if sight.taps is not None:
            add_both(self.corners, sight.taps, TAP_PX, None, self.rise)
        if sight.tiles is not None:
            add_both(sight.tiles[0], sight.tiles[1], TILE_PX, None, sight.tiles[2])
        if sight.tracks:
            ids = np.array(list(sight.tracks))
            chain = np.tile(np.eye(2), (len(ids), 1, 1))
            add_both(
                self.points[ids],
                np.array(list(sight.tracks.values())),
                TRACK_PX,
                (first_point + 2 * ids[:, None] + (0, 1), chain),
            )
        if not rows:
            return np.zeros(0), np.zeros((0, width))
        r, J = self._project(n, rows, width)
        if sight.has_edges:
            sides = first_edge + np.flatnonzero(sight.edges.line < BOARD_SIDES)
            r[sides] += self.wider / EDGE_PX
            J[sides, -1] = 1 / EDGE_PX
        # a side is off as a whole, which its points do not express one by one
        for at, ways, share in self._sides(sight):
            at = at + first_edge
            less = ways * (share - 1)
            r[at] += less @ (ways.T @ r[at])
            J[at] += less @ (ways.T @ J[at])
        return r, J

    def _sides(self, sight: PhotoSight) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """For each visible side and line: the indices of its edge points; (n, 2) the two ways in
        which all of it may be off, shifted and rotated, as unit vectors; and (2,) the factors by
        which these count less than independent points would"""
        edges, sd = sight.edges, EDGE_PX * max(sight.size) / 1640
        for k in np.unique(edges.line) if edges is not None else ():
            at = np.flatnonzero(edges.line == k)
            along = np.linalg.norm(edges.mm[at] - edges.mm[at[0]], axis=1)
            askew = 2 * (along - along.mean()) / max(np.ptp(along), 1e-9)
            shifted, turned = np.sqrt(len(at)), np.linalg.norm(askew)
            off = edges.unsure[at[0]] * np.array([shifted, SIDE_ASKEW * turned])
            ways = np.column_stack([np.full(len(at), 1 / shifted), askew / turned])
            # all photos have the same error
            yield at, ways, sd / np.sqrt(sd**2 + len(self.sights) * off**2)

    def _project(self, n, rows, width):
        lens, size = self.as_lens(), self.sights[n].size
        K, f = lens.K(size), lens.focal * max(size)
        rvec, tvec = self.poses[n, :3], self.poses[n, 3:6]
        mm, px, direction, sd, chains = zip(*rows)
        flat, px, direction = (np.vstack(parts) for parts in (mm, px, direction))
        sd = np.concatenate(sd)
        seen, jac = cv2.projectPoints(flat, rvec, tvec, K, lens.dist)
        seen, jac = seen.reshape(-1, 2), jac.reshape(-1, 2, jac.shape[1])
        J = np.zeros((len(flat), width))

        def along(d):
            return np.einsum("nk,nk...->n...", direction, d)

        J[:, 0] = along((jac[:, :, 6] + jac[:, :, 7]) * f)
        J[:, 1], J[:, 2] = along(jac[:, :, 10]), along(jac[:, :, 11])
        J[:, 3 + 7 * n : 9 + 7 * n] = along(jac[:, :, :6])
        moved = [
            cv2.projectPoints(flat + d, rvec, tvec, K, lens.dist)[0].reshape(-1, 2)
            for d in ((0.01, 0, 0), (0, 0.01, 0))
        ]
        by_mm = np.stack([m - seen for m in moved], -1) / 0.01
        start = 0
        for points, chain in zip(mm, chains):
            part = slice(start, start + len(points))
            if chain is not None:
                columns, c = chain
                d = np.einsum("nk,nkl,nlm->nm", direction[part], by_mm[part], c)
                row = np.arange(part.start, part.stop)[:, None]
                J[row, np.broadcast_to(columns, d.shape)] = d
            start = part.stop
        return along(seen - px) / sd, J / sd[:, None]


def robust_cost(r: np.ndarray) -> float:
    """A Cauchy-like cost, so that a wrong edge or a displaced card does not distort the rest"""
    return float(np.log1p(r**2 / 9).sum() * 9)


def robust_weight(r: np.ndarray) -> np.ndarray:
    """(R,) the weights that make least squares minimise robust_cost"""
    return 1 / (1 + r**2 / 9)
