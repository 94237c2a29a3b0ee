"""Snapshots that may be shared: other names for everything, and the same round.

Two walks over the objects: the first collects every name (`words`), the second writes the new ones. `roles`
says what each text of an object is; a text without a role is left out.
"""
