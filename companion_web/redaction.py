"""What one viewer sees of a snapshot, and what changed between two of them."""

from __future__ import annotations

from typing import Any

from companion_web.access import Viewer

Snapshot = dict[str, Any]


def redacted_snapshot(snapshot: Snapshot, viewer: Viewer) -> Snapshot:
    """The snapshot without what stays hidden from this viewer until the end, if the table plays
    with hidden scores."""
    hidden = (snapshot.get("settings") or {}).get("hidden_scores")
    if not hidden or snapshot.get("outcome"):
        return snapshot
    own = set(viewer.seats)
    out = dict(snapshot)
    out["scores"] = _own_scores(snapshot.get("scores") or {}, own)
    out["standing"] = _own_scores(snapshot.get("standing") or {}, own)
    out["opening_standing"] = _own_scores(snapshot.get("opening_standing") or {}, own)
    out["opening"] = _own_scores(snapshot.get("opening") or {}, own)
    out["moves"] = [
        {
            **m,
            "standing": _own_scores(m.get("standing") or {}, own),
            "scores": _own_scores(m.get("scores") or {}, own),
        }
        for m in snapshot.get("moves") or ()
    ]
    view = dict(snapshot.get("view") or {})
    view["seats"] = [
        s if s.get("id") in own else {**s, "facts": [_veiled_fact(f) for f in s.get("facts") or ()]}
        for s in view.get("seats") or ()
    ]
    view["tables"] = [t for t in view.get("tables") or () if not t.get("secret")]
    view["tracks"] = [
        {**t, "marks": []} if t.get("secret") == "marks" else t
        for t in view.get("tracks") or ()
        if t.get("secret") is not True
    ]
    out["view"] = view
    return out


def snapshot_change(old: Snapshot, new: Snapshot) -> Snapshot:
    """What a page that shows `old` needs to show `new`: the top-level values that differ; of the
    layout the sites that differ (`[]`: now empty); of the moves how many stay and those that
    follow."""
    out = {k: v for k, v in new.items() if k not in old or old[k] != v}
    if gone := [k for k in old if k not in new]:
        out["gone"] = gone
    if "layout" in out and "layout" in old:
        was, now = old["layout"], out.pop("layout")
        out["sites"] = {s: now.get(s, []) for s in {*was, *now} if was.get(s) != now.get(s)}
    if "moves" in out and "moves" in old:
        was, now = old["moves"], out.pop("moves")
        keep = next(
            (i for i, (a, b) in enumerate(zip(was, now)) if a != b), min(len(was), len(now))
        )
        out["moved"] = {"keep": keep, "then": now[keep:]}
    return out


def _own_scores(scores: dict[str, Any], own: set[str]) -> dict[str, Any]:
    return {seat: value for seat, value in scores.items() if seat in own}


def _veiled_fact(fact: dict[str, Any]) -> dict[str, Any]:
    return {**fact, "value": None} if fact.get("secret") else fact
