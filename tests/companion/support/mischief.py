"""Things against the rules that hands can do at a table, made without asking `explain`: each game's
acts tried in all places, those that `check` refuses, and the board as the hands leave it."""

from collections import Counter

TILES = {"red": "temple", "blue": "farm", "black": "settlement", "green": "market"}


class Wrong:
    """name: what was done; board: how it looks then; rules: those it breaks, one of which has to be
    named."""

    def __init__(self, name, board, rules):
        self.name, self.rules = name, set(rules)
        self.board = {s: tuple(c) for s, c in board.items() if c}

    def __repr__(self):
        return f"{self.name} {sorted(self.rules)}"


def refused(state, text, board):
    """The act as a Wrong when the rules refuse it, else None."""
    rules = [v.rule for v in state.check(state.parse(text))]
    return Wrong(text, board, rules) if rules else None


def wrongs(state, rng, most=8, lately=frozenset()):
    """A few of all the wrong doings there are, of as many sorts as can be; lately: sites where what
    was done may still be taken back."""
    found = [w for w in GAMES[state.game](state, rng) if w is not None]
    found = [w for w in found if (sites := differing(state, w.board)) and not sites & lately]
    rng.shuffle(found)
    sorts = Counter()
    ranked = []
    for w in found:
        sort = (w.name.split(": ")[-1].split()[0], tuple(sorted(w.rules)))
        sorts[sort] += 1
        ranked.append((sorts[sort], w))
    ranked.sort(key=lambda r: r[0])
    return [w for _, w in ranked[:most]]


def differing(state, board):
    """The sites that look another way than the state has them"""
    lay, sites = state.layout(), state.plan.sites
    return {
        s
        for s in {*lay, *board}
        if not state.shows_same(s, lay.get(s, ()), board.get(s, ()), sites[s].reads)
    }


def some(rng, things, n):
    things = sorted(things)
    return rng.sample(things, min(n, len(things)))


def tigris(state, rng):
    lay = state.layout()
    if state.decision() is not None:
        return
    me = state.turn
    empty = [s for s in state.plan.sites if s not in lay]
    other = next(s for s in state.seats if s != me)
    for site in some(rng, empty, 24):
        for colour, kind in TILES.items():
            yield refused(state, f"{me}: tile {colour} {site}", {**lay, site: (kind,)})
    for seat in (me, other):
        for colour in TILES:
            kind = f"leader:{seat}:{colour}"
            at = next((s for s, c in lay.items() if kind in c), "")
            for site in some(rng, empty, 8):
                to = {**lay, at: (), site: (kind,)}
                if seat == me:
                    yield refused(
                        state, f"{me}: leader {colour} {at + '>' if at else ''}{site}", to
                    )
                elif at:
                    yield Wrong(
                        f"{me} moves {kind} {at}>{site}",
                        to,
                        ["T11", "T36", "T9", "T13", "T14", "T15"],
                    )
            if at and seat == other:
                yield Wrong(f"{me} takes off {kind} {at}", {**lay, at: ()}, ["T11", "T36", "T9"])
    for site in some(rng, lay, 12):
        if lay[site] != ("catastrophe",):  # a second one on top looks the same
            yield refused(
                state, f"{me}: catastrophe {site}", {**lay, site: (*lay[site], "catastrophe")}
            )
        top = lay[site][-1]
        if top in TILES.values():
            yield Wrong(f"{top} off {site}", {**lay, site: lay[site][:-1]}, ["T25", "T48"])
            for to in some(rng, empty, 2):
                yield Wrong(
                    f"{top} moved {site}>{to}", {**lay, site: lay[site][:-1], to: (top,)}, ["T25"]
                )
        if top == "treasure":
            yield Wrong(f"treasure off {site}", {**lay, site: lay[site][:-1]}, ["T59", "T60"])
            yield Wrong(f"temple and treasure off {site}", {**lay, site: ()}, ["T25", "T59", "T60"])
        if top == "catastrophe":
            yield Wrong(f"catastrophe off {site}", {**lay, site: lay[site][:-1]}, ["T32"])
        if top.startswith("monument"):
            yield Wrong(f"{top} off {site}", {**lay, site: lay[site][:-1]}, ["T56"])


def ur(state, rng):
    lay = state.layout()
    if state.phase != "turn":
        return
    me, board = state.turn, state.board
    p = state.mover
    other = state.seats[(p + 1) % len(state.seats)]
    tiles = [s for s in board.sites if s in lay]
    for site in tiles:
        tile, *on = lay[site]
        i = board.index[site]
        mine = on.count(me) if not state.zig[i] else 0
        if state.zig[i]:
            yield Wrong(f"stone on ziggurat {site}", {**lay, site: (tile, *on, me)}, ["U18", "U10"])
            continue
        if mine:
            yield Wrong(f"stones of two on {site}", {**lay, site: (tile, *on, other)}, ["U10"])
            yield Wrong(f"six {site}", {**lay, site: (tile, *(me,) * 6)}, ["U10"])
            if mine < 5:
                yield refused(
                    state, f"{me}: ziggurat {site}", {**lay, site: (tile, "ziggurat", me)}
                )
        face, back = tile[5:].split("/")
        if len(on) > 1:
            yield Wrong(f"turned {site}", {**lay, site: (f"tile:{back}/{face}", *on)}, ["U20"])
        mine = state.known(p)
        hand = state.hands[p]
        if hand:
            for up in (hand, "/".join(reversed(hand.split("/")))):
                laid = {**lay, site: (f"tile:{up}", *on), board.hands[p]: (tile,)}
                yield refused(state, f"{me}: swap {site} {up.split('/')[0]}", laid)
        if on and on[0] == other:
            yield Wrong(f"stones of {other} off {site}", {**lay, site: (tile,)}, U_STONES)
    own = [s for s in tiles if me in lay[s][1:] and "ziggurat" not in lay[s]]
    for site in own:
        for to in tiles:
            if "ziggurat" in lay[to] or to == site:
                continue
            n, have = lay[site].count(me), lay[to].count(me)
            near = board.index[to] in board.near[board.index[site]]
            for k in {1, n}:
                moved = {**lay, site: lay[site][: len(lay[site]) - k]}
                if have and have + k <= 5:
                    yield refused(
                        state,
                        f"{me}: politics {site}>{to}:{k}",
                        {**moved, to: (*lay[to], *(me,) * k)},
                    )
                elif not have and (not near or k == n):
                    yield refused(
                        state, f"{me}: war {site}>{to}:{k}", {**moved, to: (lay[to][0], *(me,) * k)}
                    )
    for to in tiles:
        if len(lay[to]) == 1 and state.own(p):
            yield Wrong(f"two stones on free {to}", {**lay, to: (lay[to][0], me, me)}, U_STONES)


U_STONES = [
    "U9",
    "U10",
    "U11",
    "U12",
    "U13",
    "U14",
    "U29",
    "U30",
    "U31",
    "U32",
    "U33",
    "U34",
    "U35",
    "U21",
]


def nile(state, rng):
    p, board, lay = state.p, state.board, state.layout()
    if p.phase not in ("tide", "actions") or p.wait:
        return
    me = state.turn
    fields = list(board.fields)

    def fruits(site):
        return [k for k in lay.get(site, ()) if k.count(":") == 2]

    for site in some(rng, fields, 14):
        for pair in some(rng, board.waves, 2):
            ground = [k for k in lay.get(site, ()) if k.startswith(("water", "desert"))]
            yield refused(
                state,
                f"{p.seats[p.starter]}: flood {site} {pair}",
                {**lay, site: (f"water:{pair}", *(fruits(site) if not ground else ()))},
            )
        if lay.get(site, ("",))[0].startswith("water:"):
            yield refused(state, f"{p.seats[p.starter]}: ebb {site}", {**lay, site: lay[site][1:]})
        if lay.get(site, ("",))[0] == "desert":
            yield Wrong(f"desert off {site}", {**lay, site: lay[site][1:]}, ["N18"])
        elif site not in lay:
            yield Wrong(f"desert on {site}", {**lay, site: ("desert",)}, ["N50"])
        for seat in p.seats:
            fruit = rng.choice(["flax", "grain", "grapes", "onion", "aubergine"])
            yield refused(
                state,
                f"{seat}: sow {site} {fruit}",
                {**lay, site: (*lay.get(site, ()), f"seed:{seat}:{fruit}")},
            )
        yield Wrong(
            f"ripe sown on {site}",
            {**lay, site: (*lay.get(site, ()), f"ripe:{me}:flax")},
            ["N26", "N12", "N24"],
        )
        for k in fruits(site):
            side, seat, fruit = k.split(":")
            rest = list(lay[site])
            rest.remove(k)
            if side == "seed":
                yield refused(
                    state, f"{seat}: grow {site}", {**lay, site: (*rest, f"ripe:{seat}:{fruit}")}
                )
            else:
                yield Wrong(
                    f"{k} turned back on {site}",
                    {**lay, site: (*rest, f"seed:{seat}:{fruit}")},
                    ["N27"],
                )
            yield Wrong(f"{k} off {site}", {**lay, site: rest}, ["N28", "N26"])
            for row, places in board.market.items():
                place = next((s for s in places if s not in lay), None)
                if place:
                    yield refused(
                        state,
                        f"{seat}: harvest {site} M{row}",
                        {**lay, site: rest, place: (f"ripe:{seat}:{fruit}",)},
                    )
                    later = [s for s in places if s not in lay and s != place]
                    if (
                        later
                        and side == "ripe"
                        and not state.check(state.parse(f"{seat}: harvest {site} M{row}"))
                    ):
                        yield Wrong(
                            f"{k} {site} to {later[0]}",
                            {**lay, site: rest, later[0]: (k,)},
                            ["N30"],
                        )
            for to in some(rng, [f for f in fields if f not in lay], 1):
                yield Wrong(f"{k} {site}>{to}", {**lay, site: rest, to: (k,)}, ["N26"])
    for site in board.places:
        if site in lay:
            side, seat, fruit = lay[site][-1].split(":")
            yield Wrong(f"{lay[site]} off {site}", {**lay, site: ()}, ["N42"])
            if side == "ripe":
                yield Wrong(
                    f"{site} gone bad", {**lay, site: (f"seed:{seat}:{fruit}",)}, ["N47", "N48"]
                )
    boat = lay.get("boat", ())
    for k in dict.fromkeys(boat):
        rest = list(boat)
        rest.remove(k)
        seat, fruit = k.split(":")[1:]
        yield refused(state, f"{seat}: buy {fruit}", {**lay, "boat": rest})
    yield Wrong("into the boat", {**lay, "boat": (*boat, f"seed:{me}:grain")}, ["N15"])
    for seat in p.seats:
        kind = f"figure:{seat}"
        at = next(s for s, c in lay.items() if kind in c)
        to = board.track[board.square[at] + 2]
        yield Wrong(
            f"{kind} moved on",
            {**lay, at: [k for k in lay[at] if k != kind], to: (*lay.get(to, ()), kind)},
            ["N43"],
        )
    at = next(s for s, c in lay.items() if "obelisk" in c)
    to = board.track[board.square[at] - 1]
    yield Wrong(
        "obelisk moved",
        {**lay, at: [k for k in lay[at] if k != "obelisk"], to: (*lay.get(to, ()), "obelisk")},
        ["N41"],
    )
    for tide in ("flood", "ebb1", "ebb2"):
        if tide != p.tide:
            yield Wrong(
                f"stone on {tide}",
                {**lay, p.tide: (), tide: ("tide",)},
                ["N19", "N21", "N46", "N23", "N22"],
            )
    elsewhere = [
        *some(rng, board.places, 2),
        *some(rng, fields, 2),
        "boat",
        p.tide,
        *some(rng, board.track, 2),
    ]
    for kind, rules in (
        *((f"figure:{s}", ["N43"]) for s in p.seats),
        ("obelisk", ["N41"]),
        ("tide", ["N46"]),
    ):
        at = next(s for s, c in lay.items() if kind in c)
        gone = {**lay, at: [k for k in lay[at] if k != kind]}
        yield Wrong(f"{kind} off", gone, rules)
        for site in elsewhere:
            yield Wrong(f"{kind} on {site}", {**gone, site: (*gone.get(site, ()), kind)}, rules)
    strangers = [
        (board.track[0], f"figure:{s}", "N5") for s in ("white", "green") if s not in p.seats
    ]
    for site, kind, rule in (
        (p.tide, f"seed:{me}:flax", "N28"),
        (board.track[9], f"ripe:{me}:flax", "N28"),
        *strangers[:1],
        (rng.choice(sorted(board.places)), "water:12", "N13"),
    ):
        yield Wrong(f"{kind} on {site}", {**lay, site: (*lay.get(site, ()), kind)}, [rule])


def deluge(state, rng):
    lay, world = state.layout(), state.world
    if state.phase not in ("movement", "harvest", "trade", "building"):
        return

    def less(contents, kind, n):
        out = list(contents)
        for _ in range(n):
            out.remove(kind)
        return out

    lands = [c for c in world.lands if state.is_land(c)]
    for cell in some(rng, [c for c in world.cells if c in lay], 10):
        for kind in dict.fromkeys(lay[cell]):
            what, _, seat = kind.partition(":")
            rest = less(lay[cell], kind, 1)
            if what in ("people", "soldier") and seat in state.seats:
                word = "people" if what == "people" else "soldier"
                for to in some(rng, [c for c in lands if c != cell], 6):
                    yield refused(
                        state,
                        f"{seat}: move {cell}>{to} {word} 1",
                        {**lay, cell: rest, to: (*lay.get(to, ()), kind)},
                    )
            if what == "ship":
                for to in some(rng, [c for c in world.cells if state.is_sea(c) and c != cell], 6):
                    yield refused(
                        state,
                        f"{seat}: sail {cell}>{to} 1",
                        {**lay, cell: rest, to: (*lay.get(to, ()), kind)},
                    )
            if what == "fanatic":
                for to in some(rng, [c for c in world.borders[cell] if c in lands], 1):
                    yield Wrong(
                        f"fanatic {cell}>{to}",
                        {**lay, cell: rest, to: (*lay.get(to, ()), kind)},
                        ["D15", "D31"],
                    )
            yield Wrong(
                f"{kind} off {cell}",
                {**lay, cell: rest},
                ["D17", "D31", "D37", "D38", "D47", "D22", "D28"],
            )
            if what in ("people", "fanatic"):
                yield Wrong(
                    f"one more {kind} on {cell}",
                    {**lay, cell: (*lay[cell], kind)},
                    ["D40", "D31", "D28"],
                )
    me = state.turn
    if state.phase == "building":
        for cell in some(rng, lands, 8):
            for what in ("mine", "dolmen", "soldier"):
                kind = what if what == "mine" else f"{what}:{me}"
                yield refused(
                    state,
                    f"{me}: build {what} {cell} pay wood 10",
                    {**lay, cell: (*lay.get(cell, ()), kind)},
                )
        for sea in some(rng, [c for c in world.cells if state.is_sea(c)], 6):
            yield refused(
                state, f"{me}: build ship {sea}", {**lay, sea: (*lay.get(sea, ()), f"ship:{me}")}
            )
    if state.phase in ("harvest", "trade", "building"):
        for cell in some(rng, lands, 6):
            spot = next((s for s in world.spots[cell] if s not in lay), None)
            if spot:
                yield refused(state, f"{me}: harvest {cell} wood 1", {**lay, spot: ("bare",)})
    for spot in [s for s in lay if s in world.cell_of][:4]:
        yield Wrong(f"bare off {spot}", {**lay, spot: ()}, ["D41", "D24"])
    squares = list(world.squares)
    if squares:
        at = next(s for s in squares if s in lay)
        yield Wrong(
            "counter moved", {**lay, at: (), squares[squares.index(at) + 1]: lay[at]}, ["D44"]
        )


GAMES = {"tigris": tigris, "ur": ur, "nile": nile, "deluge": deluge}
