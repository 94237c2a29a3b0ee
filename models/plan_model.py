"""The base of everything in a plan."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class PlanModel(BaseModel):
    """Base of everything in a plan: frozen, camelCase outside, snake_case inside."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True, extra="ignore")
