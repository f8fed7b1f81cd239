"""A table without a camera: evidence made from layouts, as a good reader would give it."""

import math

from companion.table.table import Table
from engine import script
from vision.evidence.site_evidence import FLOOR, Evidence, Registration, SiteEvidence


def sees(layout, plan, p=0.998, unsure=(), foreign=(), busy=None):
    """Evidence of a layout. unsure: site -> [(contents, probability), ...]; foreign: sites under a
    hand or cup."""
    sites = {}
    for s in plan.sites:
        contents = tuple(layout.get(s, ()))
        if s in foreign:
            sites[s] = SiteEvidence((((), math.log(0.02)),), math.log(0.97))
        elif s in dict(unsure):
            sites[s] = SiteEvidence(
                tuple((tuple(c), math.log(q)) for c, q in dict(unsure)[s]), FLOOR
            )
        else:
            sites[s] = SiteEvidence(((contents, math.log(p)),), math.log(1 - p) - 3)
    return Evidence(sites, Registration("markers", 0.3), busy)


class Player:
    """Drives a table from a script's start and layouts given as changes."""

    def __init__(self, text, **kw):
        self.start = script.run_script(text)
        assert not self.start.faults, self.start.faults
        self.table = Table(self.start.state, **kw)
        self.board = {s: tuple(c) for s, c in self.start.state.layout().items()}

    def look(self, unsure=(), foreign=(), busy=None, **changes):
        """`D5="temple treasure"` puts these on a site ("" empties it); then one settled look."""
        for site, words in changes.items():
            self.board[site] = tuple(words.split())
        self.board = {s: c for s, c in self.board.items() if c}
        return self.table.look(
            sees(self.board, self.table.plan, unsure=unsure, foreign=foreign, busy=busy)
        )

    def follow(self):
        """People do on the board what the rules want."""
        self.board = dict(self.table.state.layout())
        return self.look()


def acts(verdict):
    """the actions without what nobody says aloud"""
    silent = ("commit", "war", "keep", "pass")
    return [str(a) for a in verdict.actions if not str(a).split(": ", 1)[1].startswith(silent)]
