"""Prices of a basket."""


def total(prices):
    return sum(round(price, 1) for price in prices)
