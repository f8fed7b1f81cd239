"""What may have been done between two looks (docs/reference/engine.md): runs of actions, legal or
not, likeliest first."""

from __future__ import annotations

from collections.abc import Iterator

from engine.game import Action, Difference, Proposal, Violation
from engine.ur import actions as a
from engine.ur import blame, effects, solve
from engine.ur.board import both_domains, face_up
from engine.ur.checks import check_action
from engine.ur.domains import culture_beside
from engine.ur.position import Position
from engine.ur.seen import Seen
from engine.ur.stage import Aim, Run
from engine.ur.tried import BEHIND, UNDONE, Tried, best_tried
from engine.ur.words import FIVE

# nats, for choosing among the guesses made here; the reconciler has its own price for a site
UNSEEN_SPARE = 3.5  # a swap with the spare, whose place is not in view
COVERED_SWAP = 5.5  # a swap whose tile the next player took up again before the camera looked
PLAIN = 4.0  # a run that costs no more than this is not contrived
# how many other sites an illegal action may leave unexplained if a legal run explains some
FEW_LEFT = 3
MOST_LEGAL, MOST_WRONG = 14, 10


def explain_difference(state: Position, difference: Difference) -> list[Proposal]:
    """Guesses at what was done, likeliest first (`State.explain`)."""
    seen = Seen(state, difference)
    if not seen.mismatch(state):
        return []
    runs = {
        "lay": _lay_guesses,
        "put": _put_guesses,
        "swap": _first_swaps,
        "turn": _turn_guesses,
        "over": _nothing_done,
    }[state.phase]
    tried: list[Tried] = []
    known: set[tuple[Action, ...]] = set()
    for actions, cost in runs(state, seen):
        if tuple(actions) not in known:
            known.add(tuple(actions))
            tried.append(Tried(state, seen, actions, cost))
    none = Tried(state, seen, (), 0.0)
    legal = best_tried([t for t in tried if t.actions and t.wrong < none.wrong])
    # otherwise it may still be an illegal action
    exact = bool(legal) and not legal[0].left and legal[0].cost < UNSEEN_SPARE
    out = [
        Proposal(
            tuple(t.actions),
            cost=t.cost + (2 * BEHIND if exact and t.left else 0.0),
            certain=state.phase != "turn",
        )  # many different turns lead to the same board
        for t in legal[:MOST_LEGAL]
    ]
    if not exact:
        late = 0.0
        if (
            legal
            and legal[0].undone == len(legal[0].left)
            and legal[0].value - legal[0].wrong <= PLAIN
        ):
            late = BEHIND + UNDONE * legal[0].undone
        out += _wrong_guesses(state, seen, [none, *legal[:2]], tried, late)
    return out


def _wrong_guesses(
    state: Position, seen: Seen, bases: list[Tried], tried: list[Tried], late: float
) -> list[Proposal]:
    """What breaks a rule: a run whose next action is refused, and what the leftovers of the best
    legal runs suggest.

    late: extra cost if something legal explains everything except what is not done yet.
    """
    found: list[tuple[float, Proposal]] = []
    none = bases[0]
    progress = len(bases) > 1

    def add(
        t: Tried, action: Action | None, violations: list[Violation], cost: float, unexplained: int
    ) -> None:
        actions = () if action is None else (*t.actions, action)
        if action is None and t.actions:
            return  # the reconciler asks again about what a legal run leaves over
        if action is not None and len(t.left) == len(none.left) and t.actions:
            return  # nothing of the run shows on the board
        if progress and unexplained > FEW_LEFT:
            return  # legal guesses first, so that less is left to blame
        cost += late + blame.BESIDE * max(0, unexplained)
        changes = {s: want for s, (_, want) in t.left.items()}
        value = t.value - t.wrong + cost
        found.append((value, Proposal(actions, changes, tuple(violations), cost)))

    for t in tried:
        if t.broken is not None and t.left:
            add(t, *t.broken, t.cost, len(t.left) - 1)
    for t in bases:
        if t.left:
            for action, violations, cost, explained in blame.blame_guesses(t.at, seen, t.left):
                add(t, action, violations, cost, len(t.left) - explained)
    # otherwise the turn has continued correctly
    if state.phase == "turn" and all(t.at.mover == state.mover for t in bases):
        for action, cost, left in _other_turns(state, seen):
            violations = check_action(state, action)
            if violations:
                add(none, action, violations, cost, left)
    found.sort(key=lambda x: x[0])
    out: list[Proposal] = []
    for _, p in found:
        if all(p.actions != q.actions or p.actions == () for q in out):
            out.append(p)
    return out[:MOST_WRONG]


def _other_turns(state: Position, seen: Seen) -> Iterator[tuple[Action, float, int]]:
    """(first action, cost, sites left over and the one explained) for turns that would explain the
    difference if it were that seat's turn or that seat's domain."""
    for q in range(len(state.seats)):
        if q == state.mover or not _seems_active(state, seen, q):
            continue
        there = state.changed(mover=q, used=(), bonus=None, built=0, returned=False)
        found = best_tried(
            [
                Tried(there, seen, acts, cost)
                for acts, cost in _own_turn(there, seen, _aim_of(there, seen, q))
            ]
        )
        for t in found[:1]:
            if t.actions:
                yield t.actions[0], len(t.actions) - 1.0, len(t.left) + 1
    known = state.known(state.mover)
    if len(known) == 2 and not (state.built or state.returned or state.bonus):
        p = state.mover
        hands = tuple(None if q == p else h for q, h in enumerate(state.hands))
        there = state.changed(hands=hands, used=())
        aim = _aim_of(state, seen, p)
        for domain in ("agriculture", "trade", "culture", "politics", "war"):
            if domain not in known or domain in state.used:
                for acts, _ in solve.nearest_runs(there, p, aim, (domain,)):
                    t = Tried(there, seen, acts, 0.0)
                    if t.actions and len(t.left) < len(seen.raw):
                        yield t.actions[0], 0.5, len(t.left) + 1


# A turn


def _turn_guesses(state: Position, seen: Seen) -> Iterator[Run]:
    yield from _tiles_told(state, seen)
    for aim in _possible_aims(state, seen):
        yield from _own_turn(state, seen, aim)
    p, q = state.mover, (state.mover + 1) % len(state.seats)
    if _seems_active(state, seen, q) and not list(_seen_swaps(state, seen, p)):
        before = best_tried(
            [
                Tried(state, seen, acts, cost)
                for acts, cost in _before_swap(state, seen, _aim_of(state, seen, p))
            ]
        )
        for swap, cost in _unseen_swaps(state, seen, p, q):
            # nothing of it shows, so the next turn becomes part of the same run
            for t in before[:2]:
                acts = [*t.actions, swap]
                then = Tried(state, seen, acts, 0.0)
                if then.broken is None and then.at.phase == "turn":
                    seen_then = Seen(then.at, then.left)
                    for more, price in _own_turn(
                        then.at, seen_then, _aim_of(then.at, seen_then, q)
                    ):
                        yield [*acts, *more], t.cost + cost + price


def _own_turn(state: Position, seen: Seen, aim: Aim) -> Iterator[Run]:
    swaps = list(_seen_swaps(state, seen, state.mover))
    for acts, cost in _before_swap(state, seen, aim):
        if acts:
            yield acts, cost
        for swap in swaps[:3]:
            yield [*acts, swap], cost


def _before_swap(state: Position, seen: Seen, aim: Aim) -> Iterator[Run]:
    p, seat, sites = state.mover, state.seats[state.mover], state.board.sites
    yield [], 0.0
    built = [i for i in seen.changed if seen.zig[i] and not state.zig[i] and state.owner[i] == p]
    if built:
        yield [a.Ziggurat(seat, tuple(sites[i] for i in built))], 0.0
    if not state.own(p):
        for i in seen.changed:
            if seen.number(i, p) and state.free(i):
                yield [a.Return(seat, sites[i])], 0.0
    for order in solve.domain_orders(state, p):
        yield from solve.nearest_runs(state, p, aim, order)


def _aim_of(state: Position, seen: Seen, p: int) -> Aim:
    """The stones of a seat where they are seen; any number where others have since taken its
    tile."""
    n = len(state.tiles)
    lo = [0 if seen.zig[i] or state.zig[i] else seen.number(i, p) for i in range(n)]
    hi = list(lo)
    for i in seen.changed:
        taken = not lo[i] and any(seen.stones[i][q] for q in range(len(state.seats)) if q != p)
        if state.owner[i] == p and not state.zig[i] and (taken or seen.zig[i]):
            hi[i] = FIVE
    gone = [
        i
        for i in seen.changed
        if state.owner[i] not in (-1, p) and not any(seen.stones[i].values())
    ]
    return Aim(lo, hi, gone)


def _possible_aims(state: Position, seen: Seen) -> Iterator[Aim]:
    """The aim of the seat whose turn it is; and, if the next seat has acted too, the aim without
    what its culture has added."""
    p, q = state.mover, (state.mover + 1) % len(state.seats)
    aim = _aim_of(state, seen, p)
    yield aim
    if state.could_bear(q, "culture") and _seems_active(state, seen, q):
        lo, hi = list(aim.lo), list(aim.hi)
        for i, n in culture_beside(state, q).items():
            if state.owner[i] == p and aim.lo[i]:
                full = aim.lo[i] == FIVE
                lo[i] = max(0, aim.lo[i] - n)
                hi[i] = FIVE if full else lo[i]
        if lo != aim.lo:
            yield Aim(lo, hi, aim.gone)


def _seems_active(state: Position, seen: Seen, q: int) -> bool:
    """Whether a seat seems to have done something: stones of its colour have changed, or a tile
    like its hand tile is newly laid."""
    mine = state.known(q)
    for i in seen.changed:
        laid = seen.laid(i)
        if (
            laid
            and len(mine) == 2
            and both_domains(laid) == mine
            and both_domains(laid) != both_domains(state.tiles[i] or "")
        ):
            return True
        before = state.count[i] if state.owner[i] == q else 0
        if seen.number(i, q) > before:
            return True
    return False


def _seen_swaps(state: Position, seen: Seen, p: int) -> Iterator[Action]:
    """Swaps that a newly laid tile suggests; the tile taken comes first."""
    mine, seat = state.known(p), state.seats[p]
    taken = seen.hands.get(p)
    found = []
    for i in seen.changed:
        laid = seen.laid(i)
        if laid is None or not (mine <= both_domains(laid)):
            continue
        other = both_domains(state.tiles[i] or "") == both_domains(laid)
        fits = taken is None or both_domains(taken) == both_domains(state.tiles[i] or "")
        back = laid.partition("/")[2] if len(mine) < 2 else ""
        found.append(
            ((other, not fits, i), a.Swap(seat, state.board.sites[i], face_up(laid), back))
        )
    if seen.spare and seen.spare != state.spare and mine <= both_domains(seen.spare):
        found.append(((False, False, -1), a.Swap(seat, a.SPARE)))
    yield from (swap for _, swap in sorted(found, key=lambda x: x[0]))


def _unseen_swaps(state: Position, seen: Seen, p: int, q: int) -> Iterator[tuple[Action, float]]:
    """Swaps that left nothing to see although the next seat has gone on: with the spare, or of a
    tile laid and taken up again."""
    seat, mine = state.seats[p], state.known(p)
    if state.spare and len(state.seats) == 3 and state.board.spare not in seen.raw:
        yield a.Swap(seat, a.SPARE), UNSEEN_SPARE
    for i in seen.changed:
        if (
            seen.laid(i)
            and state.free(i)
            and len(mine) == 2
            and both_domains(seen.tiles[i] or "") == state.known(q)
        ):
            proof = p in seen.hands and seen.hands[p] == state.tiles[i]
            taken = seen.hands.get(q)
            up = face_up(taken) if taken and both_domains(taken) == mine else min(mine)
            yield a.Swap(seat, state.board.sites[i], up), 0.5 if proof else COVERED_SWAP


# The set-up


def _nothing_done(state: Position, seen: Seen) -> Iterator[Run]:
    yield from ()


def _lay_guesses(state: Position, seen: Seen) -> Iterator[Run]:
    """All tiles newly laid; those beside the square last."""
    acts: list[Action] = []
    for site, tile in [
        *zip(state.board.sites, seen.tiles),
        *((state.board.hands[p], t) for p, t in seen.hands.items()),
    ]:
        i = state.board.index.get(site)
        if tile and (i is None or state.tiles[i] is None):
            acts.append(a.Lay(a.BOX, site, tile))
    if seen.spare and state.spare is None and state.board.spare:
        acts.append(a.Lay(a.BOX, state.board.spare, seen.spare))
    if acts:
        yield acts, 0.0


def _put_guesses(state: Position, seen: Seen) -> Iterator[Run]:
    """Stones put in turn, as long as the next seat has one that is newly there; then the first
    swaps."""
    waiting: dict[int, list[int]] = {}
    for i in seen.changed:
        for p in range(len(state.seats)):
            had = state.count[i] if state.owner[i] == p else 0
            waiting.setdefault(p, []).extend([i] * (seen.number(i, p) - had))
    acts = _put_in_turn(state, waiting)
    if acts:
        yield list(acts), 0.0
        yield [acts[0]], 0.0
        if state.phase == "put":
            t = Tried(state, seen, acts, 0.0)
            if t.at.phase == "swap" and t.left:
                for more, cost in _first_swaps(t.at, Seen(t.at, t.left)):
                    yield [*acts, *more], cost
    yield from _tiles_told(state, seen)


def _put_in_turn(state: Position, waiting: dict[int, list[int]]) -> list[Action]:
    """The longest run of legal stones in turn."""
    if state.phase != "put":
        return []
    best: list[Action] = []
    seat, mine = state.seats[state.mover], waiting.get(state.mover, [])
    for i in dict.fromkeys(mine):
        action = a.Put(seat, state.board.sites[i])
        if check_action(state, action):
            continue
        rest = list(mine)
        rest.remove(i)
        run = [
            action,
            *_put_in_turn(effects.apply_action(state, action), {**waiting, state.mover: rest}),
        ]
        if len(run) > len(best):
            best = run
        if len(best) == sum(map(len, waiting.values())):
            break
    return best


def _first_swaps(state: Position, seen: Seen) -> Iterator[Run]:
    """Each seat's swap after those before it have passed; or all pass, and the first turn has
    begun."""
    yield from _tiles_told(state, seen)
    passes: list[Action] = []
    while state.phase == "swap":
        for swap in _seen_swaps(state, seen, state.mover):
            if not (isinstance(swap, a.Swap) and swap.site == a.SPARE):
                yield [*passes, swap], 0.0
        passes.append(a.Pass(state.seats[state.mover]))
        state = effects.apply_action(state, passes[-1])
    for acts, cost in _turn_guesses(state, Seen(state, seen.mismatch(state))):
        yield [*passes, *acts], cost


def _tiles_told(state: Position, seen: Seen) -> Iterator[Run]:
    """Hand tiles that come into view for the first time."""
    acts: list[Action] = [
        a.Lay(a.BOX, state.board.hands[p], t)
        for p, t in seen.hands.items()
        if t and state.hands[p] is None
    ]
    if acts:
        yield acts, 0.0
