"""Which rules an action breaks: all of them, not only the first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.game import Action, Violation
from engine.text import say
from engine.ur import actions as a
from engine.ur.board import both_domains
from engine.ur.domains import (
    AS_WRITTEN,
    culture_needs,
    extra_allowance,
    harvest_losses,
    remaining_tiles,
    round_of,
    short_of,
    trade_sides,
    war_cost,
)
from engine.ur.position import Position
from engine.ur.words import FIVE, domain_name, number_word, seat_name, stones_words

SETUP_ROUNDS = 3  # one stone each on a free tile, then two more rounds (U6, U7)
ZIGGURATS_A_TURN = 2  # U16
TURNS = ("turn", "over")  # when the game is over, the other faults are named as well


class Broken(list):
    """The violations found so far; each rule once, with its first sentence."""

    def add(self, rule: str, template: str, **args: Any) -> None:
        """Records a broken rule, with a sentence and its arguments."""
        if all(v.rule != rule for v in self):
            self.append(Violation(rule, say(template, **args)))


def check_action(state: Position, action: Action) -> list[Violation]:
    """Every rule the action breaks, [] if it is legal."""
    out = Broken()
    if isinstance(action, a.Lay):
        _check_lay(state, action, out)
        return list(out)
    if action.seat not in state.seats:
        out.add("U9", "{seat} does not play in this game", seat=seat_name(action.seat))
        return list(out)
    p = state.seats.index(action.seat)
    _check_moment(state, action, p, out)
    body = _BODIES.get(type(action))
    if body is not None:
        body(state, action, p, out)
    return list(out)


def moment_rule(state: Position) -> str:
    """The rule that says who acts now, and how."""
    if state.phase == "put":
        return "U7" if round_of(state) else "U6"
    return {"lay": "U4", "swap": "U8", "turn": "U9"}.get(state.phase) or state.end


def _check_moment(state: Position, action: Action, p: int, out: Broken) -> None:
    rule = moment_rule(state)
    if state.phase == "over":
        out.add(rule, "the game is over")
        return
    if state.phase == "lay":
        out.add(rule, "the tiles are laid first")
        return
    if p != state.mover:
        out.add(rule, "it is the turn of {seat}", seat=seat_name(state.seats[state.mover]))
    if state.phase == "put" and not isinstance(action, a.Put):
        out.add(rule, "now each player puts one stone")
        if not isinstance(action, (a.Swap, a.Pass)):
            out.add("U9", "turns begin after the set-up")
    elif state.phase == "swap" and not isinstance(action, (a.Swap, a.Pass)):
        out.add(rule, "now each player may swap the hand tile, or pass")
        if not isinstance(action, a.Put):
            out.add("U9", "turns begin after the set-up")
    elif state.phase == "turn" and isinstance(action, a.Put):
        out.add("U9", "the set-up is over: a turn has actions or ziggurats, then the swap")
        out.add("U7" if state.puts else "U6", "stones are put one by one only in the set-up")


def _check_lay(state: Position, action: a.Lay, out: Broken) -> None:
    board = state.board
    if action.site in board.hands:
        p = board.hands.index(action.site)
        if p >= len(state.seats) or state.hands[p] is not None:
            out.add("U5", "each player has one hand tile")
        elif state.phase == "over":
            out.add(state.end, "the game is over")
    elif action.site == board.spare:
        if len(state.seats) != 3 or state.spare is not None:
            out.add("U5", "one tile lies beside the square, and only with three players")
    elif state.phase != "lay" or state.tiles[board.index[action.site]] is not None:
        out.add("U4", "one tile lies on each place of the square")
    if remaining_tiles(state).get(both_domains(action.tile), 0) < 1:
        out.add("U1", "there is no such tile left")


def _check_put(state: Position, action: a.Put, p: int, out: Broken) -> None:
    i = state.board.index.get(action.site)
    first = state.phase == "put" and not round_of(state)
    rule = "U6" if first else "U7"
    if i is None or state.tiles[i] is None:
        out.add(rule, "there is no tile of the square on {site}", site=action.site)
        return
    if state.zig[i]:
        out.add("U18", "no stone is put on the ziggurat on {site}", site=action.site)
    q = state.owner[i]
    if first and q >= 0:
        out.add("U6", "{site} is not free: the first stone goes on a free tile", site=action.site)
    elif (
        q < 0
        and not first
        and not any(state.owner[j] == p and not state.zig[j] for j in state.board.near[i])
    ):
        out.add(
            "U7",
            "{site} shares no edge with a tile of {seat}",
            site=action.site,
            seat=seat_name(action.seat),
        )
    elif q >= 0 and q != p:
        out.add("U7", "{site} is held by another player", site=action.site)
    if q >= 0 and q != p:
        out.add("U10", "the stones on a tile are all of one player")
    if state.count[i] >= FIVE:
        out.add("U10", "{site} holds five stones already", site=action.site)
    if state.supplies[p] < 1:
        out.add("U15", "no stone is left to put")


def _check_pass(state: Position, action: a.Pass, p: int, out: Broken) -> None:
    if state.phase == "turn" and (p != state.mover or state.can_swap()):
        out.add("U20", "a turn ends with the swap of the hand tile")


def _check_swap(state: Position, action: a.Swap, p: int, out: Broken) -> None:
    setup = state.phase in ("put", "swap")
    rule = "U8" if setup else "U20"
    mine = state.known(p)
    if action.site == a.SPARE:
        if setup:
            out.add("U8", "the first swap is with a free tile of the square")
        if len(state.seats) != 3 or state.spare is None:
            out.add("U22", "a tile to swap for lies beside the square only with three players")
        elif not setup and len(mine) == 2 and both_domains(state.spare) == mine:
            out.add("U20", "the spare tile has the same pair of domains as the hand tile")
        return
    i = state.board.index.get(action.site)
    tile = None if i is None else state.tiles[i]
    if i is None or tile is None:
        out.add(rule, "there is no tile of the square on {site}", site=action.site)
    else:
        if state.zig[i]:
            out.add("U18", "the tile under a ziggurat cannot be swapped for")
        if state.zig[i] or state.count[i]:
            out.add(rule, "{site} is not free", site=action.site)
    both = mine | {action.face} | ({action.back} if action.back else set())
    if len(both) > 2:
        out.add(
            rule,
            "the hand tile has no face {face}",
            face=domain_name(action.back if action.face in mine else action.face),
        )
    elif tile is not None and not setup and len(both) == 2 and both_domains(tile) == both:
        out.add(
            "U20",
            "the tile on {site} has the same pair of domains as the hand tile",
            site=action.site,
        )


def _may_use(state: Position, p: int, domain: str, out: Broken) -> None:
    if not state.could_bear(p, domain):
        out.add(
            "U9",
            "the hand tile of {seat} has no {domain}",
            seat=seat_name(state.seats[p]),
            domain=domain_name(domain),
        )
        out.add("U11", "only the two domains of the hand tile can be used")
    if p != state.mover or state.phase not in TURNS:
        return
    if domain in state.used and not (domain == "war" and state.used[-1] == "war"):
        if domain == "war":
            out.add("U11", "the war of this turn ended with the other action")
        else:
            out.add("U11", "{domain} has been used this turn", domain=domain_name(domain))
    if state.built:
        out.add("U16", "a player who builds ziggurats has no actions this turn")
    if state.returned:
        out.add("U21", "three stones on a free tile replace the actions")
    if state.bonus is not None:
        out.add("U14", "the extra stones come after the actions")


def _own_target(
    state: Position, site: str, p: int, rule: str, out: Broken, in_action: bool = True
) -> int | None:
    """The index of an own tile that stones come to; None if it is not one, with the reason
    recorded."""
    i = state.board.index.get(site)
    if i is None or state.tiles[i] is None:
        out.add(rule, "there is no tile of the square on {site}", site=site)
        return None
    if state.zig[i]:
        out.add("U18", "no stone is put on the ziggurat on {site}", site=site)
        if in_action:
            out.add("U19", "a tile under a ziggurat does not count for its domain")
        out.add(
            rule,
            "{site} is not a tile of {seat} with stones",
            site=site,
            seat=seat_name(state.seats[p]),
        )
        return None
    if state.owner[i] != p:
        out.add(rule, "{site} is not a tile of {seat}", site=site, seat=seat_name(state.seats[p]))
        if state.owner[i] >= 0:
            out.add("U10", "the stones on a tile are all of one player")
        return None
    return i


def _check_agriculture(state: Position, action: a.Agriculture, p: int, out: Broken) -> None:
    _may_use(state, p, "agriculture", out)
    losses = harvest_losses(state, p)
    for site, n in action.stones:
        if n > 2:
            out.add("U30", "up to two stones may be put on an agriculture tile")
        i = _own_target(state, site, p, "U30", out)
        if i is None:
            continue
        if state.face(i) != "agriculture":
            out.add("U30", "{site} is not an agriculture tile", site=site)
        if state.count[i] + n > FIVE:
            out.add("U10", "a tile holds at most five stones")
    _check_supply(sum(n for _, n in action.stones), state.supplies[p] + len(losses), out)


def _check_trade(state: Position, action: a.Trade, p: int, out: Broken) -> None:
    _may_use(state, p, "trade", out)
    for site, n in action.stones:
        i = _own_target(state, site, p, "U31", out)
        if i is None:
            continue
        if state.face(i) != "trade":
            out.add("U31", "{site} is not a trade tile", site=site)
        elif n > (sides := trade_sides(state, i, p)):
            out.add(
                "U31",
                "{site} may get {stones}: one for each side at a foreign tile or the border",
                site=site,
                stones=stones_words(action.seat, sides),
            )
            if any(state.zig[j] and state.owner[j] == p for j in state.board.near[i]):
                out.add("U19", "a ziggurat of one's own beside it is not foreign")
        if state.count[i] + n > FIVE:
            out.add("U10", "a tile holds at most five stones")
    _check_supply(sum(n for _, n in action.stones), state.supplies[p], out)


def _check_supply(n: int, there: int, out: Broken) -> None:
    if n > there:
        out.add("U15", "only {n} stones are left in the supply", n=number_word(there))


def _check_culture(state: Position, action: a.Culture, p: int, out: Broken) -> None:
    _may_use(state, p, "culture", out)
    if not action.stones:
        return
    needs = culture_needs(state, p)
    left = short_of(state, needs)
    for site, n in action.stones:
        i = state.board.index.get(site)
        if i is not None and state.zig[i]:
            out.add("U18", "no stone is put on the ziggurat on {site}", site=site)
        if i is None or n > needs.get(i, 0):
            out.add("U32", "culture does not put that many stones on {site}", site=site)
        elif state.owner[i] not in left:
            out.add(
                "U32",
                "there is nothing to choose on {site}: its owner has enough stones",
                site=site,
            )
        else:
            left[state.owner[i]] -= n
    if any(left.values()):
        out.add("U32", "culture puts as many stones as the owners have")


def _check_politics(state: Position, action: a.Politics, p: int, out: Broken) -> None:
    _may_use(state, p, "politics", out)
    after: dict[int, int] = {}
    for source, target, n in action.moves:
        for site, sign in ((source, -1), (target, 1)):
            i = _own_target(state, site, p, "U33", out)
            if i is not None:
                after[i] = after.get(i, state.count[i]) + sign * n
    for i, n in after.items():
        if n < 0:
            out.add("U33", "there are not that many stones on {site}", site=state.board.sites[i])
        if n > FIVE:
            out.add("U10", "a tile holds at most five stones")


def _check_war(state: Position, action: a.War, p: int, out: Broken) -> None:
    _may_use(state, p, "war", out)
    if not action.source:
        out.add("U34", "a war is at least one attack")
        return
    i = _own_target(state, action.source, p, "U34", out)
    j = state.board.index.get(action.target)
    if j is None or state.tiles[j] is None:
        out.add("U34", "there is no tile of the square on {site}", site=action.target)
        j = None
    elif state.zig[j]:
        out.add("U18", "the ziggurat on {site} cannot be attacked", site=action.target)
        j = None
    elif state.owner[j] == p:
        out.add("U34", "{site} is a tile of one's own", site=action.target)
        j = None
    if action.stones < 1:
        out.add("U35", "at least one stone moves to the attacked tile")
    source, target = state.board.index.get(action.source), state.board.index.get(action.target)
    if source is not None and target is not None and target not in state.board.near[source]:
        out.add(
            "U34", "{source} and {target} share no edge", source=action.source, target=action.target
        )
    if (
        i is not None
        and j is not None
        and state.count[i] < war_cost(state, i, j) + max(1, action.stones)
    ):
        out.add(
            "U35",
            "{site} cannot pay: the attack takes {n} stones, and {m} are to move",
            site=action.source,
            n=number_word(war_cost(state, i, j)),
            m=number_word(action.stones),
        )


def _check_earned(state: Position, p: int, wanted: int, out: Broken) -> None:
    """Records what the actions of this turn do not allow (U12 to U14); `wanted` extra stones, 2 for
    also settling a free tile."""
    mine = p == state.mover and state.phase in TURNS
    used = len(state.used) if mine else 0
    allowed = extra_allowance(state, used)
    if mine and state.built:
        out.add("U16", "a player who builds ziggurats gets no extra stones")
        allowed = 0
    if mine and state.returned:
        out.add("U21", "a player who comes back with three stones gets no extra ones")
        allowed = 0
    if wanted <= allowed:
        return
    if mine and not used and state.option == AS_WRITTEN:
        out.add("U14", "the extra stones come after the actions")
    if allowed != 2:
        out.add("U12", "one extra stone is for using exactly one of the two actions")
    if allowed != 1 or wanted > 1:
        if state.option == AS_WRITTEN:
            out.add("U13", "two extra stones are for using both actions")
        else:
            out.add("U13", "two extra stones are for using neither action")


def _check_extra(state: Position, action: a.Extra, p: int, out: Broken) -> None:
    n = sum(n for _, n in action.stones)
    had = state.bonus if p == state.mover else None
    _check_earned(state, p, n + (had[2] if had else 0), out)
    rule = (
        "U12" if extra_allowance(state, len(state.used) if p == state.mover else 0) < 2 else "U13"
    )
    sites = {s for s, _ in action.stones} | ({state.board.sites[had[1]]} if had else set())
    if had and had[0] == "settle":
        out.add("U13", "the extra stone was put on a free tile")
    elif len(sites) > 1:
        out.add(rule, "extra stones go on one tile")
    for site, m in action.stones:
        i = _own_target(state, site, p, rule, out, in_action=False)
        if i is not None and state.count[i] + m > FIVE:
            out.add("U10", "a tile holds at most five stones")
    _check_supply(n, state.supplies[p], out)


def _check_settle(state: Position, action: a.Settle, p: int, out: Broken) -> None:
    _check_earned(state, p, 2, out)
    if state.bonus is not None and p == state.mover:
        out.add("U13", "the extra stones of this turn are placed")
    _check_free(state, action.site, p, "U13", out)
    _check_supply(1, state.supplies[p], out)


def _check_free(state: Position, site: str, p: int, rule: str, out: Broken) -> None:
    i = state.board.index.get(site)
    if i is None or state.tiles[i] is None:
        out.add(rule, "there is no tile of the square on {site}", site=site)
        return
    if state.zig[i]:
        out.add("U18", "no stone is put on the ziggurat on {site}", site=site)
    if not state.free(i):
        out.add(rule, "{site} is not free", site=site)
        if state.owner[i] not in (-1, p):
            out.add("U10", "the stones on a tile are all of one player")


def _check_ziggurat(state: Position, action: a.Ziggurat, p: int, out: Broken) -> None:
    mine = p == state.mover
    built = state.built if mine else 0
    if mine and (state.used or state.bonus is not None):
        out.add("U16", "ziggurats are built instead of actions")
    if mine and state.returned:
        out.add("U21", "three stones on a free tile replace everything else")
        out.add("U16", "ziggurats are built instead of actions")
    if len(action.sites) + built > ZIGGURATS_A_TURN:
        out.add("U16", "one or two ziggurats are built in a turn")
    if len(set(action.sites)) < len(action.sites):
        out.add("U16", "one ziggurat stands on a tile")
    if len(action.sites) + state.ziggurats > state.board.ziggurats:
        out.add("U2", "there are {n} ziggurats in all", n=number_word(state.board.ziggurats))
    for site in action.sites:
        i = state.board.index.get(site)
        if i is None or state.tiles[i] is None:
            out.add("U16", "there is no tile of the square on {site}", site=site)
            continue
        if state.zig[i]:
            out.add("U18", "a ziggurat stands on {site} already", site=site)
        if state.zig[i] or state.owner[i] != p or state.count[i] < FIVE:
            out.add(
                "U16",
                "there are not five stones of {seat} on {site}",
                site=site,
                seat=seat_name(action.seat),
            )


def _check_return(state: Position, action: a.Return, p: int, out: Broken) -> None:
    if state.own(p):
        out.add("U21", "{seat} has stones on the board", seat=seat_name(action.seat))
    if p == state.mover and (
        state.used or state.built or state.bonus is not None or state.returned
    ):
        out.add("U21", "three stones on a free tile replace the actions")
    _check_free(state, action.site, p, "U21", out)
    _check_supply(3, state.supplies[p], out)


_BODIES: dict[type[Action], Callable[..., None]] = {
    a.Put: _check_put,
    a.Pass: _check_pass,
    a.Swap: _check_swap,
    a.Agriculture: _check_agriculture,
    a.Trade: _check_trade,
    a.Culture: _check_culture,
    a.Politics: _check_politics,
    a.War: _check_war,
    a.Extra: _check_extra,
    a.Settle: _check_settle,
    a.Ziggurat: _check_ziggurat,
    a.Return: _check_return,
}
