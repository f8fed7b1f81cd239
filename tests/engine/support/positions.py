"""What tests of every game's rules do with a position: play script lines, apply actions, ask what
forbids one."""

from engine import script


def played(text):
    """The state after a whole script's lines, all of which have to hold."""
    result = script.run_script(text)
    assert not result.faults, "; ".join(map(str, result.faults))
    return result.state


def refused(state, action):
    """The numbers of the rules that forbid it; [] when it is legal."""
    return [v.rule for v in state.check(state.parse(action))]


def do(state, *actions):
    for a in actions:
        state = state.apply(state.parse(a))
    return state
