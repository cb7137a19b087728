#!/bin/sh
# Adds up the second column of a table.
awk -F, '{ total += $2 } END { print total }' "$1"
