"""Games played at random, and the helpers the tests of this game share."""

import random
from collections import defaultdict

import engine
from engine import script
from engine.game import Statement
from engine.nile import actions as act
from engine.nile.board import FRUITS
from tests.engine.support.searching import search

GAME = engine.game("nile")
SEATS = ("red", "blue", "yellow", "green", "white")
VARIANTS = ("hippo", "bidding", "buy-others", "freshen")
SELDOM = {"Pass": 0.3, "Spend": 0.3, "Joker": 0.3, "Flood": 2, "Ebb": 2}


def start(text, seats="red blue", plan=None):
    """The state after these set-up lines."""
    return script.parse_script(f"game nile\nseats {seats}\n{text}").start(plan)


def play(state, *lines):
    for line in lines:
        state = state.apply(state.parse(line))
    return state


def rules(state, line):
    """The numbers of the rules an action breaks."""
    return {v.rule for v in state.check(state.parse(line))}


def choose(state, r):
    """A legal action, every sort of it about as likely as another."""
    sorts = defaultdict(list)
    for a in state.legal_actions():
        sorts[type(a).__name__].append(a)
    sort = r.choices(list(sorts), [SELDOM.get(s, 1) for s in sorts])[0]
    return r.choice(sorts[sort])


def random_game(seed, open_mode, longest=160, seats=None, options=None):
    """[(state, the action that led there or None), ...]; players and variants are drawn too where
    they are not given."""
    r = random.Random(seed)
    seats = seats or SEATS[: r.randint(2, 5)]
    options = options or {v: r.choice(("on", "off")) for v in VARIANTS}
    if open_mode:
        state = GAME.new(seats, options)
    else:
        state = GAME.setup(
            seats, [Statement(i, ("option", *o)) for i, o in enumerate(options.items())]
        )
    out = [(state, None)]
    while state.outcome() is None and len(out) < longest:
        drawn = state.chance()
        action = (
            r.choices([a for a, _ in drawn], [p for _, p in drawn])[0]
            if drawn
            else choose(state, r)
        )
        state = state.apply(action)
        out.append((state, action))
    return out


def any_action(state, r):
    """An action that can be said, seldom a legal one."""
    b = state.board
    seat = r.choice([*state.actors, *state.seats])
    site, other = r.choice(list(b.fields)), r.choice(state.seats)
    lying = [s for s in state.p.lay if s in b.fields]
    site = r.choice(lying) if lying and r.random() < 0.5 else site
    fruit, pair = r.choice(FRUITS), r.choice(sorted(b.waves))
    picture, arrow = r.choice((*act.PICTURES, "")), r.random() < 0.3
    row = r.choice(list(b.market))
    places = tuple(sorted(r.sample(range(1, len(b.market[row]) + 1), r.randint(0, 2))))
    fruits = act.sort_fruits(r.choices(FRUITS, k=r.randint(1, 3)))
    return r.choice(
        [
            act.Flood(seat, site, pair, picture, arrow),
            act.Flood(seat, site, pair),
            act.Ebb(seat, site, picture, arrow),
            act.Ebb(seat, site),
            act.Event(seat, picture or "none", arrow),
            act.Spoil(seat, row, places),
            act.Sow(seat, site, fruit),
            act.Grow(seat, site),
            act.Harvest(seat, site, row),
            act.Buy(seat, other, fruit),
            act.Joker(seat),
            act.Spend(seat),
            act.Freshen(seat, r.choice(list(b.places))),
            act.Fist(seat, r.randint(0, 16)),
            act.Pass(seat),
            act.Boat(seat, fruits),
            act.Water(seat, site, pair),
            act.Plant(seat, site, r.choice(("seed", "ripe")), fruit),
            act.Cover(seat, r.choice(list(b.rows))),
            act.Desert(seat, site),
            act.Top(seat, other, act.card_face(pair)),
            act.Start(seat, other),
        ]
    )


def difference(state, layout):
    """What `explain` is asked: site -> (the state's contents, what lies there)."""
    have = state.layout()
    pairs = {s: (have.get(s, ()), layout.get(s, ())) for s in set(have) | set(layout)}
    return {s: c for s, c in pairs.items() if not state.shows_same(s, *c, "cluster")}


def explained(state, layout):
    """The run of proposals that leads to that layout; None when none does."""
    return search(state, layout, difference, depth=9, left=2)
