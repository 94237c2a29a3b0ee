"""The family of devices: which of them serve which claims, as variables and rows."""
