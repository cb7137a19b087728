def get_assert(output, context):
    return len(output) > 10


def is_short(output, context):
    return {"pass_": len(output) < 10, "score": 0.5, "reason": "short"}
