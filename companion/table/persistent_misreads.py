"""Sites that were never read correctly: an error of the reader or a board set up differently, not
something that people were seen to do."""

from __future__ import annotations

from collections.abc import Mapping

from engine import State
from engine.layout import Contents, Layout
from vision.evidence.site_evidence import Evidence

MOST = 4  # more sites than this are not an error of the reader


class PersistentMisreads:
    """Records, one settled view after another, the sites that have not once been read as the state
    says since their contents last changed. Such a site must not hide what people do elsewhere."""

    def __init__(self) -> None:
        self._wanted: dict[str, Contents] = {}
        self._misreads: Layout = {}
        # the previous view: what people did in it may be what the state says now
        self._read: dict[str, Contents] = {}
        # those that people have ignored and gone on playing
        self.known: frozenset[str] = frozenset()

    def note_view(
        self, state: State, evidence: Evidence, reads: Mapping[str, str], behind: Layout
    ) -> None:
        """Takes in a settled view. behind: where the board is known to be behind the state, which
        is not a misreading."""
        layout = state.layout()
        for site, e in evidence.sites.items():
            if e.foreign or not e.options:
                continue
            want = layout.get(site, ())
            fresh = self._wanted.get(site) != want
            self._wanted[site] = want
            if site in behind or state.shows_same(site, want, e.best, reads.get(site, "pile")):
                self._misreads.pop(site, None)
            elif (
                site in self._misreads
                or fresh
                and not self._was_read(state, site, want, reads.get(site, "pile"))
            ):
                self._misreads[site] = e.best
            self._read[site] = e.best
        self.known &= self._misreads.keys()

    def _was_read(self, state: State, site: str, want: Contents, reads: str) -> bool:
        return site in self._read and state.shows_same(site, want, self._read[site], reads)

    @property
    def sites(self) -> Layout:
        """site -> what is read there; empty if there are too many for an error of the reader."""
        return dict(self._misreads) if len(self._misreads) <= MOST else {}

    def accept_known(self) -> None:
        """People have gone on playing although they were told."""
        self.known = frozenset(self._misreads)
