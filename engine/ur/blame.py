"""What may have gone wrong: actions that break a rule, and changes that no action makes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.game import Action, Violation
from engine.layout import Contents
from engine.text import Text, say
from engine.ur import actions as a
from engine.ur.board import both_domains, face_up
from engine.ur.checks import check_action, moment_rule
from engine.ur.legal import stone_shifts
from engine.ur.position import Position
from engine.ur.seen import Seen
from engine.ur.words import FIVE, domain_name, seat_name, stones_words

BESIDE = 1.5  # nats for a site that an illegal action does not explain
NO_ACTION = 1.0  # nats for a change to one place that no action can make

Guess = tuple[Action | None, list[Violation], float, int]


def blame_guesses(
    state: Position, seen: Seen, left: Mapping[str, tuple[Contents, Contents]]
) -> Iterator[Guess]:
    """(action or None, violations, cost, sites explained) for what is left of a difference."""
    places = [state.board.index[s] for s in left if s in state.board.index]
    for action, explained in _suggested_actions(state, seen, places):
        broken = check_action(state, action)
        if broken:
            yield action, broken, 0.0, explained
    violations: list[Violation] = []
    for site, (have, want) in left.items():
        rule, text = _place_fault(state, site, have, want)
        if rule and all(v.rule != rule or v.text != text for v in violations):
            violations.append(Violation(rule, text))
    if violations:
        yield None, violations, NO_ACTION, 1


def _suggested_actions(
    state: Position, seen: Seen, places: list[int]
) -> Iterator[tuple[Action, int]]:
    """Single actions that the changed places suggest, those of the seat whose turn it is first."""
    order = [(state.mover + k) % len(state.seats) for k in range(len(state.seats))]
    yield from _tile_actions(state, seen, places, order)
    for p in order:
        yield from _stone_actions(state, seen, p, _stone_changes(state, seen, p, places))


def _tile_actions(
    state: Position, seen: Seen, places: list[int], order: list[int]
) -> Iterator[tuple[Action, int]]:
    """Ziggurats built and tiles swapped. order: the seats, those that are likelier first."""
    sites = state.board.sites
    for i in places:
        laid = seen.laid(i)
        if seen.zig[i] and not state.zig[i]:
            owner = next((p for p in order if seen.number(i, p)), state.owner[i])
            if owner >= 0:
                yield a.Ziggurat(state.seats[owner], (sites[i],)), 1
        elif laid and state.tiles[i]:
            turned = both_domains(laid) == both_domains(state.tiles[i] or "")
            for p in order:
                mine = state.known(p)
                if mine <= both_domains(laid) and (p == state.mover or not turned):
                    back = laid.partition("/")[2] if len(mine) < 2 else ""
                    yield (
                        a.Swap(state.seats[p], sites[i], face_up(laid), back),
                        1 + (p in seen.hands),
                    )
    if seen.spare and seen.spare != state.spare:
        yield from (
            (a.Swap(state.seats[p], a.SPARE), 1 + (p in seen.hands))
            for p in order
            if state.known(p) == both_domains(seen.spare)
        )


def _stone_changes(state: Position, seen: Seen, p: int, places: list[int]) -> dict[int, int]:
    """place -> how many stones of a seat lie there more or fewer than they did, where that
    differs; ziggurats that were built are left out."""
    change = {}
    for i in places:
        built, others = seen.zig[i] and not state.zig[i], state.zig[i] and state.owner[i] != p
        if built or others and not seen.number(i, p):
            continue
        had = state.count[i] if state.owner[i] == p and not state.zig[i] else state.zig[i]
        if seen.number(i, p) != had:
            change[i] = seen.number(i, p) - had
    return change


def _stone_actions(
    state: Position, seen: Seen, p: int, change: dict[int, int]
) -> Iterator[tuple[Action, int]]:
    """Actions of one seat that its own stones suggest. change: place -> stones more or fewer."""
    sites, seat = state.board.sites, state.seats[p]
    more = {i: n for i, n in change.items() if n > 0}
    fewer = {i: -n for i, n in change.items() if n < 0}
    if state.phase == "put":
        yield from ((a.Put(seat, sites[i]), 1) for i in more)
        return
    if state.phase != "turn":
        return
    if more and fewer and sum(more.values()) == sum(fewer.values()):
        places = sorted(change)
        have = [state.count[i] if state.owner[i] == p else 0 for i in places]
        want = [h + change[i] for h, i in zip(have, places)]
        yield a.Politics(seat, stone_shifts([sites[i] for i in places], have, want)), len(change)
    yield from _suggested_wars(state, seen, p, more, fewer)
    for domain, action in (("agriculture", a.Agriculture), ("trade", a.Trade)):
        found = tuple(
            (sites[i], n)
            for i, n in sorted(more.items())
            if state.face(i) == domain and (state.owner[i] == p or state.zig[i])
        )
        if found and state.could_bear(p, domain):
            yield action(seat, found), len(found)
    for i, n in more.items():
        if state.owner[i] == p or state.zig[i] or state.owner[i] >= 0:
            yield a.Extra(seat, ((sites[i], n),)), 1
        elif n == 3:
            yield a.Return(seat, sites[i]), 1
        else:
            yield a.Settle(seat, sites[i]), 1


def _suggested_wars(
    state: Position, seen: Seen, p: int, more: dict[int, int], fewer: dict[int, int]
) -> Iterator[tuple[Action, int]]:
    """Wars for the places where a seat has more stones, from those where it has fewer, or else from
    its own nearby."""
    near, sites = state.board.near, state.board.sites
    for i, n in more.items():
        if state.owner[i] == p or state.zig[i]:
            continue
        beaten = state.owner[i] >= 0 and seen.number(i, state.owner[i]) < state.count[i]
        if not fewer and not beaten:
            continue
        left = [j for j in near[i] if j in fewer] or list(fewer)
        origins = left or [j for j in near[i] if state.owner[j] == p and not state.zig[j]]
        for j in origins[:2]:
            yield a.War(state.seats[p], sites[j], sites[i], n), 1 + (j in fewer)


def _place_fault(state: Position, site: str, have: Contents, want: Contents) -> tuple[str, Text]:
    """The rule against a place that looks like this, whatever was done."""
    i = state.board.index.get(site)
    if i is None:
        if len(have) == len(want) == 1 and both_domains(have[0][5:]) == both_domains(want[0][5:]):
            return "", say("")
        return "U20", say("the tile on {site} changes only with a swap", site=site)
    mine = [k for k in want if k in state.board.stones]
    if state.zig[i]:
        return "U18", say("the ziggurat on {site} must not be touched", site=site)
    if "ziggurat" in want:
        return "U16", say(
            "a ziggurat is built only on a tile with five stones of its builder: {site}", site=site
        )
    was, now = have[:1], tuple(k for k in want[:1] if k.startswith("tile:"))
    if was and not now:
        return "U20", say(
            "the tile on {site} is gone: the hand tile of {seat} has to be laid there",
            site=site,
            seat=seat_name(state.seats[state.mover]),
        )
    if was != now:
        if was and both_domains(was[0][5:]) == both_domains(now[0][5:]):
            return "U20", say(
                "the tile on {site} was turned over: it lies with {face} up",
                site=site,
                face=domain_name(face_up(was[0][5:])),
            )
        return "U20", say(
            "the tile on {site} is a different one: only a swap with the hand tile does that",
            site=site,
        )
    if len(set(mine)) > 1:
        return "U10", say("the stones on {site} are all of one player", site=site)
    if len(mine) > FIVE:
        return "U10", say("{site} holds at most five stones", site=site)
    rule = moment_rule(state)
    nobody = [k for k in mine if k not in state.seats]
    if nobody:
        return "U3", say("nobody plays {colour}", colour=nobody[0])
    if (
        state.count[i] > len(mine)
        and state.owner[i] >= 0
        and (not mine or mine[0] == state.seats[state.owner[i]])
    ):
        return rule, say(
            "nothing took {stones} off {site}",
            site=site,
            stones=stones_words(state.seats[state.owner[i]], state.count[i] - len(mine)),
        )
    return rule, say("nothing that is allowed now explains the stones on {site}", site=site)
