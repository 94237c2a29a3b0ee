"""The round stated by domains: which domain takes which pod group."""
