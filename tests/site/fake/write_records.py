"""Which records does the invented book stand on? Run in its tree: python write_records.py."""

import importlib
from types import SimpleNamespace

from engine.declaration import declaration
from engine.provenance import fingerprint
from engine.record import write_record

for name in ("toy", "fixed"):
    module = importlib.import_module(f"experiments.{name}")
    for spec in declaration(name).runs:
        values = module.measure(module.Settings(**spec.settings), SimpleNamespace(seed=spec.seed))
        write_record(
            spec,
            values,
            replay=None,
            fingerprint=fingerprint(spec),
            device={"kind": "cpu", "name": "Invented 3000", "threads": 1},
            seconds=12.3,
        )
