"""A support bot without a model, so that its tests are free."""

import json
import sys


def answer(question):
    text = question.lower()
    if "return" in text or "refund" in text:
        return "You can return it within 30 days of the purchase."
    if "json" in text:
        return json.dumps({"id": 17, "status": "shipped"})
    if "cost" in text or "price" in text:
        return "I do not know the price. Please look at the shop."
    return "I can help you with orders and refunds."


if __name__ == "__main__":
    print(answer(sys.argv[1]))
