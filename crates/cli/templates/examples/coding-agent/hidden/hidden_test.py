import unittest

from src.prices import total


class Total(unittest.TestCase):
    def test_cents_are_not_lost(self):
        self.assertEqual(total([0.25, 0.25, 0.26]), 0.76)

    def test_an_empty_basket_costs_nothing(self):
        self.assertEqual(total([]), 0)
