"""Names of container images."""


def normalized(image: str) -> str:
    """Return an image's name with the tag that it has by default."""
    return image if ":" in image.rpartition("/")[2] else f"{image}:latest"
