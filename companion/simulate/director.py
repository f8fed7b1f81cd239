"""A simulated table that can be told what happens on it: the demo's and the tests' stand-in for
people, board and camera.

    table = Director(plan, layout=state.layout(), seed=1)
    with table.camera as camera:                    # a hardware.camera.Camera, for whoever looks
        table.show(next_state.layout())             # hands come, do it and go; blocks meanwhile
        table.put("cup", (300, 200)); table.clear()
        table.nudge("C4", (12, 0)); table.fault("bumped", True)

`frames(layout)` gives the same pictures without waiting, for tests.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from companion.simulate.copies import Conditions
from hardware.film import Film
from hardware.scene import Light, Scene, Thing, View
from hardware.simulated import FAULTS, SimulatedCamera
from vision.plan import Plan

Layout = Mapping[str, Sequence[str]]


class Director:
    """conditions: the specimen and its camera, the same that `make_copy` photographs with these
    conditions, so that a model calibrated on that copy can read this table; seed: for how pieces
    are laid down this time; view, light: a different camera or lamp; fps: the hands' pace, scenes a
    second.
    """

    def __init__(
        self,
        plan: Plan,
        layout: Layout | None = None,
        seed: int = 0,
        conditions: Conditions | None = None,
        view: View | None = None,
        light: Light | None = None,
        fps: float = 5.0,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        conditions = conditions or Conditions()
        self.top = conditions.table(plan)
        self.top.rng.seed(seed)
        self.top.lay(layout or {})
        self._over: tuple[Thing, ...] = ()
        self._sleep, self._gap = sleep, 1 / fps
        self.camera = SimulatedCamera(
            self.top.scene(), view or conditions.look(plan), light, seed, sleep=sleep
        )
        self._film = Film(seed + 1)

    def set(self, layout: Layout) -> None:
        """Changes to the layout at once, without hands."""
        self.top.lay(layout)
        self._show(self.top.scene())

    def show(self, layout: Layout, still: float = 0.0) -> None:
        """Hands change the table until it shows the layout, then nothing moves for `still`
        seconds."""
        for scene in self.top.towards(layout, still=1):
            self._show(scene)
            self._sleep(self._gap)
        self._sleep(still)

    def frames(self, layout: Layout, still: int = 3) -> Iterator[np.ndarray]:
        """The pictures of `show`, as fast as they can be rendered; the last `still` ones without a
        hand."""
        for scene in self.top.towards(layout, still):
            self._show(scene)
            yield self.picture()

    def picture(self) -> np.ndarray:
        """What the camera sees now, without opening it and without faults."""
        return self._film.take(self.camera.scene, self.camera.view, self.camera.light)

    def put(self, prop: str, at: tuple[float, float], turn: float = 0.0) -> None:
        """Puts a "cup", "phone" or "hand" somewhere (board mm) and leaves it there. Raises KeyError
        for anything else."""
        self._over = (*self._over, Thing(self.top.prop(prop), at, turn))
        self._show(self.top.scene())

    def clear(self) -> None:
        """Removes everything that was put there."""
        self._over = ()
        self._show(self.top.scene())

    @property
    def littered(self) -> bool:
        """Whether anything put there is still there."""
        return bool(self._over)

    @property
    def disturbed(self) -> bool:
        """Whether a fault is switched on or something lies in the way."""
        return self.littered or bool(self.camera.faults)

    def nudge(self, site: str, by: tuple[float, float], turn: float = 0.0) -> None:
        """Shifts the uppermost piece of a site by (x, y) mm and turns it, as a sleeve does."""
        self.top.nudge(site, by, turn)
        self._show(self.top.scene())

    def fault(self, name: str, on: bool) -> None:
        """Switches a fault of `hardware.simulated.FAULTS` on or off. Raises KeyError for another
        name."""
        if name not in FAULTS:
            raise KeyError(name)
        (self.camera.faults.add if on else self.camera.faults.discard)(name)

    def _show(self, scene: Scene) -> None:
        self.camera.scene = scene if not self._over else self.top.scene((*self._over, *scene.over))
