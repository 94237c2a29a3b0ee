"""From a round to a plan: search by tiers, bounds, decoding, replay and comparing."""
