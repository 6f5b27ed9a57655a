def own():
    return {"own_grain": "grown"}
