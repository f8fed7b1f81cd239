def explain(s, difference):
    return []
