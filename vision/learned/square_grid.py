"""Where a board of squares on which pieces stand may lie, turned or some squares off: each square of
board and table is looked at once, and then every place of the board is weighed. Its central value:
SquareGrid."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from vision.geometry.footprints import camera_position
from vision.geometry.pose import Pose
from vision.geometry.site_groups import places_beyond_picture
from vision.geometry.site_windows import Pyramid
from vision.geometry.symmetry import SQUARES_ASTRAY, site_spacing, symmetric_turns
from vision.learned.canvas import stack_input
from vision.learned.groups import FOREIGN, SiteGroup
from vision.learned.reader import LearnedReader
from vision.learned.sampling import close_up, frame_standing
from vision.placement import STRANGE
from vision.plan import Plan

UNEVEN = 0.1  # of a square by which a site may be off its place among the others
PARITIES = 2  # a board's squares are of two colours as a rule


class SquareGrid(msgspec.Struct, frozen=True, eq=False):
    """The squares of a board and of the table about it, counted from its first site's. step: (2,) mm
    from one to the next; first: (2,) mm the middle of the first site; cells: (N, 2) each site's
    square; shape: (2,) squares across and down"""

    step: np.ndarray
    first: np.ndarray
    cells: np.ndarray
    shape: tuple[int, int]

    @classmethod
    def of(cls, plan: Plan) -> SquareGrid | None:
        """None for a board that is not wholly of squares"""
        step = site_spacing(plan)
        if not step.all():
            return None
        centres = np.array([s.centre for s in plan.site])
        off = (centres - centres.min(0)) / step
        cells = np.rint(off).astype(int)
        across, down = (cells.max(0) + 1).tolist()
        if np.abs(off - cells).max() > UNEVEN or across * down != len(cells):
            return None
        return cls(step, centres.min(0), cells, (across, down))

    def possible_places(self, plan: Plan) -> list[tuple[np.ndarray, np.ndarray]]:
        """((N, 2) squares on which the sites would lie, (4, 2) mm of that board where this one has
        its corners) for each turn and each number of squares off"""
        out, middle = [], np.array(self.shape) - 1
        for quarters in (0, *symmetric_turns(plan)):
            back = np.linalg.matrix_power(np.array([[0, -1], [1, 0]]), quarters)
            turned = (2 * self.cells - middle) @ back.T
            lies = (turned + middle) // 2
            centre = self.first + self.step * middle / 2
            for off in np.ndindex((2 * SQUARES_ASTRAY + 1,) * 2):
                aside = np.array(off) - SQUARES_ASTRAY
                corners = (plan.corners - self.step * aside - centre) @ back + centre
                out.append((lies + aside, corners))
        return out


def rank_places(
    reader: LearnedReader,
    prior: Mapping[str, np.ndarray],
    grid: SquareGrid,
    picture: Pyramid,
    pose: Pose,
    most: int,
) -> list[np.ndarray]:
    """(4, 2) mm each: which places of the board lie where `pose` has its corners, the likeliest by
    what is seen on all squares first. prior: kind -> (N,) as of a PlacementPrior"""
    group = reader.groups[0]
    logs = look_at_squares(reader, grid, picture, pose)
    best = logs.argmax(-1)
    foreign = best == FOREIGN
    plain = np.where(foreign, STRANGE, logs.max(-1))
    usual = usual_kinds(prior, group, len(grid.cells))
    found = []
    for lies, corners in grid.possible_places(reader.plan):
        x, y = (lies + SQUARES_ASTRAY).T
        odd = int((grid.cells[0].sum() - lies[0].sum()) % PARITIES)
        wont = np.where(foreign[odd, x, y], 0.0, usual[best[odd, x, y], range(len(lies))])
        found.append((float((plain[odd, x, y] + wont).sum()), corners))
    found.sort(key=lambda f: -f[0])
    return [corners for _, corners in found[:most]]


def look_at_squares(
    reader: LearnedReader, grid: SquareGrid, picture: Pyramid, pose: Pose
) -> np.ndarray:
    """(2, across, down, classes) log-probabilities of what lies on each square of the board and
    SQUARES_ASTRAY about it, as if the board's squares had this colour or the other there; foreign
    beyond the picture"""
    group, wide = reader.groups[0], SQUARES_ASTRAY * grid.step
    view = msgspec.structs.replace(
        reader.view, margin=reader.view.margin + float(np.ceil(wide.max()))
    )
    seen = view.rectify(picture, pose, reader.reference.light_of(picture, pose))
    shape = tuple(n + 2 * SQUARES_ASTRAY for n in grid.shape)
    squares = np.array(list(np.ndindex(shape))) - SQUARES_ASTRAY
    centres = grid.first + grid.step * squares
    off, axes = frame_standing(centres, group, camera_position(pose))
    at, sides = view.to_px(centres + off), axes * view.scale
    within = ~places_beyond_picture(centres, pose)
    logs = np.full((PARITIES, len(squares), len(group.classes)), -np.inf)
    logs[:, :, FOREIGN] = 0.0
    empty = reader.empty.astype(np.float32)
    for odd in range(PARITIES):
        own = grid.first + grid.step * nearest_cells(grid, squares, odd)
        bare = reader.view.to_px(own + off)
        pictures = [
            stack_input(close_up(seen, at[n], sides[n]), close_up(empty, bare[n], sides[n]))
            for n in np.flatnonzero(within)
        ]
        logs[odd, within] = reader.classify_pictures(0, pictures)
    return logs.reshape(PARITIES, *shape, -1)


def nearest_cells(grid: SquareGrid, squares: np.ndarray, odd: int) -> np.ndarray:
    """(n, 2) the board's own square of that colour nearest to each of (n, 2)"""
    last = np.array(grid.shape) - 1
    own = np.clip(squares, 0, last)
    wrong = (own.sum(1) - squares.sum(1) - odd) % PARITIES != 0
    own[wrong, 0] += np.where(own[wrong, 0] < last[0], 1, -1)
    return own


def usual_kinds(prior: Mapping[str, np.ndarray], group: SiteGroup, count: int) -> np.ndarray:
    """(classes, sites) how much likelier what lies on a site is of this class than on any"""
    out = np.zeros((len(group.classes), count))
    for n, kinds in enumerate(group.classes):
        out[n] += sum((prior[k] for k in kinds if k in prior), np.zeros(count))
    return out
