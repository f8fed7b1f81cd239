"""A stand-in for a copy's network, which tells what it is told to."""


class StandIn:
    """tell: pose -> {site: evidence}. Without anything to tell it is silent."""

    groups = ()
    tall_sites = frozenset()

    def __init__(self, tell=lambda pose: {}):
        self.tell = tell

    def read(self, picture, pose, sites=None, cache=None):
        return {s: e for s, e in self.tell(pose).items() if sites is None or s in sites}
