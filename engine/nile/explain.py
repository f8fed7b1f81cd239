def explain(state, difference):
    return []
