"""Examples of the protocol's documents, transcribed in `data/`, errata applied."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Example:
    """One example of one document; `raw` is the JSON as it stands."""

    raw: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.raw['source']} {self.raw['title']}"

    @property
    def exports(self) -> list[dict[str, Any]]:
        """What each process offers, in rank order, in the types that the document prints."""
        return [
            {
                "__version__": self.raw["version"],
                "buffer": np.array(process["buffer"], float).reshape(process["local_shape"]),
                "dim_data": tuple(self._entries(entries) for entries in process["dim_data"]),
            }
            for process in self.raw["processes"]
        ]

    def _entries(self, entries: dict[str, Any]) -> dict[str, Any]:
        found = dict(entries)
        if "padding" in found and self.raw["padding_as"] == "tuple":
            found["padding"] = tuple(found["padding"])
        if "indices" in found and self.raw["indices_as"] == "array":
            found["indices"] = np.array(found["indices"])
        return found

    @property
    def full_array(self) -> np.ndarray | None:
        return np.array(self.raw["full_array"]) if "full_array" in self.raw else None

    @property
    def old(self) -> bool:
        return self.raw["version"] == "0.9.0"


def load() -> list[Example]:
    """All examples of all documents, in order."""
    return [Example(raw) for path in sorted(DATA.glob("*.json")) for raw in json.loads(_text(path))]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


EXAMPLES = load()
