# SPDX-License-Identifier: MIT
"""Reads the description of a study: one YAML file. What is wrong in it is said with the file's line."""

import collections
import itertools
import re
from pathlib import Path

import yaml

import launch

KEYS = ("study", "title", "command", "machine", "launch", "inputs", "plots")
PLOT_KEYS = ("name", "title", "x", "y", "lines", "panels", "xlabel", "ylabel", "scale")
NAME = re.compile(r"[a-z][a-z0-9-]*")
FIELD = re.compile(r"{([^{}]*)}")
MOST_CELLS = 100_000


class Wrong(Exception):
    """What is wrong, with the file and the line."""


class Value:
    """A scalar of the file, and where it stands."""

    def __init__(self, node):
        self.value, self.line = yaml.safe_load(yaml.serialize(node)), node.start_mark.line + 1

    def text(self):
        return {True: "on", False: "off"}.get(self.value, str(self.value)) if isinstance(self.value, bool) else str(self.value)


class Description:
    """A study: name, command, axes of the machine and of the program, plots."""

    def __init__(self, path):
        self.path = Path(path)
        self.machine, self.inputs, self.plots = {}, {}, []
        root = self._compose()
        for key, node in self._members(root, KEYS, "a study"):
            getattr(self, f"_read_{key}")(node)
        for key in ("name", "command"):
            if not hasattr(self, key):
                self.refuse(root.start_mark.line + 1, f"a study has a {'study' if key == 'name' else key}: there is none")
        self._check_command()
        self._check_plots()
        cells = 1
        for values in (self.machine | self.inputs).values():
            cells *= len(values)
        if cells > MOST_CELLS:
            self.refuse(root.start_mark.line + 1, f"{cells} cells; {MOST_CELLS} are the most")

    def refuse(self, line, what):
        raise Wrong(f"read the study: {self.path}:{line}: {what}")

    # ---- YAML ----

    def _compose(self):
        try:
            root = yaml.compose(self.path.read_text())
        except OSError as error:
            raise Wrong(f"read the study: {self.path}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise Wrong(f"read the study: {self.path}: it is no text") from None
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            self.refuse(mark.line + 1 if mark else 1, getattr(error, "problem", None) or str(error))
        if not isinstance(root, yaml.MappingNode):
            self.refuse(1, "expected keys and values")
        return root

    def _members(self, node, known, what):
        """(key, node) of a mapping; each key is known and stands there once."""
        if not isinstance(node, yaml.MappingNode):
            self.refuse(node.start_mark.line + 1, f"expected the keys of {what}")
        seen = set()
        for key_node, value_node in node.value:
            key, line = key_node.value, key_node.start_mark.line + 1
            if not isinstance(key, str) or (known is not None and key not in known):
                self.refuse(line, f"'{key}' is no key of {what}; there are {', '.join(known)}")
            if key in seen:
                self.refuse(line, f"'{key}' stands there twice")
            seen.add(key)
            yield key, value_node

    def _scalar(self, node, what):
        if not isinstance(node, yaml.ScalarNode) or node.value == "":
            self.refuse(node.start_mark.line + 1, f"{what} is one word or number")
        return Value(node)

    def _text(self, node, what):
        value = self._scalar(node, what).value
        if not isinstance(value, str):
            self.refuse(node.start_mark.line + 1, f"{what} is a text")
        return value

    def _axis(self, node, name):
        """The values that a cell may have of it."""
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
        if not nodes:
            self.refuse(node.start_mark.line + 1, f"{name} has no value")
        values = [self._scalar(each, name) for each in nodes]
        counts = collections.Counter(value.text() for value in values)
        for value in values:
            text = value.text()
            if counts[text] > 1:
                self.refuse(value.line, f"{name}: {text} stands there twice")
        return values

    # ---- keys ----

    def _read_study(self, node):
        self.name = self._text(node, "study")
        if not NAME.fullmatch(self.name):
            self.refuse(node.start_mark.line + 1, f"'{self.name}' names a folder: small letters, digits and dashes")

    def _read_title(self, node):
        self.title = self._text(node, "title")

    def _read_command(self, node):
        self.command, self.command_line = self._text(node, "command"), node.start_mark.line + 1

    def _read_machine(self, node):
        for key, values in self._members(node, None, "a machine"):
            self.machine[key] = self._axis(values, key)

    def _read_launch(self, node):
        for key, values in self._members(node, None, "a launch"):
            problem = launch.problem_of_name(key)
            if problem:
                self.refuse(values.start_mark.line + 1, problem)
            self._add_input(key, values)
            for value in self.inputs[key]:
                problem = launch.problem_of(key, value.text())
                if problem:
                    self.refuse(value.line, problem)

    def _read_inputs(self, node):
        for key, values in self._members(node, None, "inputs"):
            self._add_input(key, values)

    def _add_input(self, key, values):
        if key in self.machine:
            self.refuse(values.start_mark.line + 1, f"'{key}' is a property of the machine already")
        if key in self.inputs:
            self.refuse(values.start_mark.line + 1, f"'{key}' stands in launch and in inputs")
        self.inputs[key] = self._axis(values, key)

    def _read_plots(self, node):
        if not isinstance(node, yaml.SequenceNode):
            self.refuse(node.start_mark.line + 1, "plots is a list")
        for each in node.value:
            plot = {key: self._text(value, key) for key, value in self._members(each, PLOT_KEYS, "a plot")}
            for key in ("name", "x", "y"):
                if key not in plot:
                    self.refuse(each.start_mark.line + 1, f"a plot has {key}: there is none")
            if not NAME.fullmatch(plot["name"]):
                self.refuse(each.start_mark.line + 1, f"'{plot['name']}' names a file: small letters, digits and dashes")
            self.plots.append(plot | {"line": each.start_mark.line + 1})

    # ---- what belongs together ----

    def _check_command(self):
        fields = FIELD.findall(self.command)
        for field in fields:
            if field not in self.inputs:
                self.refuse(self.command_line, f"{{{field}}} is no input; there are {', '.join(self.inputs) or 'none'}")
        for name, values in self.inputs.items():
            if name not in fields:
                self.refuse(values[0].line, f"{name} does not stand in the command")

    def _check_plots(self):
        axes = self.machine | self.inputs
        for plot in self.plots:
            for key in ("x", "lines", "panels"):
                if plot.get(key, plot["x"]) not in axes:
                    self.refuse(plot["line"], f"plot {plot['name']}: {key}: '{plot[key]}' is no property and no input")

    # ---- cells ----

    def shapes(self):
        """Each machine that occurs, as {property: Value}."""
        return [dict(zip(self.machine, values)) for values in itertools.product(*self.machine.values())]

    def cells(self):
        """(machine, inputs) of each cell, as {name: text}."""
        for shape in self.shapes():
            for values in itertools.product(*self.inputs.values()):
                yield ({key: value.text() for key, value in shape.items()},
                       {key: value.text() for key, value in zip(self.inputs, values)})

    def words(self, inputs):
        """The command of a cell."""
        return [FIELD.sub(lambda match: inputs[match[1]], word) for word in self.command.split()]
