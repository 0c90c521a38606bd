"""YAML as the suite reads it: what the library's loaders let through is refused before it takes memory or time."""

import yaml

LEFT_TO_LIBYAML = 2000  # levels: it ends the process where there are some ten thousand
DEEPEST = 50  # levels of what is read
LARGEST = 200_000  # keys and values, those of an alias as often as it stands there; ours have a tenth of that
LONGEST_NUMBER = 100  # digits: Python takes the square of their number to read them
NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")


def _refuse(node, problem: str):
    raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


class _Checked:
    """What YAML's loaders let through: a key that stands twice, texts that swell, numbers without end."""

    def construct_document(self, node):
        self._size(node, 1, {})
        return super().construct_document(node)

    def _size(self, node, depth: int, sizes: dict[int, int]) -> int:
        """How many keys and values there are in a node; an alias is the node that it names."""
        if isinstance(node, yaml.ScalarNode):
            return 1
        if id(node) not in sizes:
            sizes[id(node)] = LARGEST  # of one that holds itself
            inside = (
                node.value if isinstance(node, yaml.SequenceNode) else [each for pair in node.value for each in pair]
            )
            sizes[id(node)] = 1 + sum(self._size(each, depth + 1, sizes) for each in inside)
        if depth > DEEPEST:
            _refuse(node, f"more than {DEEPEST} levels")
        if sizes[id(node)] > LARGEST:
            _refuse(node, f"its aliases swell to more than {LARGEST:,} keys and values, or an alias holds itself")
        return sizes[id(node)]

    def construct_scalar(self, node):
        if node.tag in NUMBERS and len(node.value) > LONGEST_NUMBER:
            _refuse(node, f"a number of more than {LONGEST_NUMBER} digits")
        value = super().construct_scalar(node)
        try:
            value.encode()
        except UnicodeEncodeError:
            _refuse(node, "half a letter (a surrogate)")
        return value

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                _refuse(key, "a key must be a word or a number")
            if key.value in seen and key.value != "<<":
                _refuse(key, f"key '{key.value}' stands twice")
            seen.add(key.value)
        return super().construct_mapping(node, deep)


class SlowLoader(_Checked, yaml.SafeLoader):
    pass


class FastLoader(_Checked, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """libyaml where it is there, ten times as fast."""


def _deepest_nesting(text: str) -> int:
    """No text nests deeper: each level opens a bracket, or is indented by one more."""
    return text.count("[") + text.count("{") + max(map(len, text.splitlines()), default=0)


def loader_for(text: str) -> type:
    """The faster one where it is safe."""
    return FastLoader if _deepest_nesting(text) < LEFT_TO_LIBYAML else SlowLoader
