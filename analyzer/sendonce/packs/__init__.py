"""Rule packs: all knowledge of libraries, as data, found, checked and merged for the linker.

`load_packs()` gives the shipped packs, `load_packs([path])` those of the user as well.
"""

from __future__ import annotations

from sendonce.packs.loading import SECTIONS, Memory, load_packs, rule_files
from sendonce.packs.merged import PackFile, Packs
from sendonce.packs.tables import Table
from sendonce.shipped import shipped_rules

__all__ = ["SECTIONS", "Memory", "PackFile", "Packs", "Table", "load_packs", "rule_files", "shipped_rules"]
