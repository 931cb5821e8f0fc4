"""The characters that a terminal may draw as nothing.

This module imports no other modules, because lockterm loads it at startup.
"""

from __future__ import annotations

IGNORABLE = (
    *((0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5)),
    *((0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164)),
    *((0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8)),
    *((0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)
"""The 4,174 code points that may be drawn as nothing (Default_Ignorable_Code_Point), as inclusive
ranges. Most of these code points are not assigned yet, so their Unicode category does not show it.
"""
