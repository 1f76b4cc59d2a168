# SPDX-License-Identifier: MIT
"""Makes one tidy table of a study: a row a cell, a column a property, input or result."""

import csv
import json


def rows(folder, keys):
    """(rows, the keys of cells that have no result)"""
    found, missing = [], []
    for key in keys:
        path = folder / "cells" / f"{key}.json"
        if path.exists():
            cell = json.loads(path.read_text())
            found.append(cell["machine"] | cell["inputs"] | cell["results"])
        else:
            missing.append(key)
    return found, missing


def write(path, found):
    columns = list(dict.fromkeys(column for row in found for column in row))
    with open(path, "w", newline="") as file:
        table = csv.DictWriter(file, columns, lineterminator="\n")
        table.writeheader()
        table.writerows(found)
