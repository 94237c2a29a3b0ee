import pytest

from kubestow.models.semver import parse_version

ORDER = [
    "0.0.0-0",
    "1.0.0-1",
    "1.0.0-2",
    "1.0.0-11",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-rc.1",
    "1.0.0",
    "1.0.1",
    "1.2.0",
    "1.10.0",
    "2.0.0-x-y",
    "2.0.0",
    "18446744073709551615.0.0",
]


def test_order():
    assert sorted(reversed(ORDER), key=parse_version) == ORDER


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(text, id=name)
        for text, name in (
            ("", "nothing"),
            ("1", "one number"),
            ("1.2", "two numbers"),
            ("1.2.3.4", "four numbers"),
            ("v1.2.3", "a letter before"),
            ("1.02.3", "a leading zero"),
            ("1.2.3-", "an empty pre-release"),
            ("1.2.3-a..b", "an empty part"),
            ("1.2.3-01", "a number with a leading zero"),
            ("1.2.3+", "empty build metadata"),
            ("1.2.3 ", "a blank"),
            ("١.2.3", "digits of another script"),
            ("18446744073709551616.0.0", "a number beyond 64 bits"),
        )
    ],
)
def test_no_version(text):
    with pytest.raises(ValueError, match="semantic version"):
        parse_version(text)


@pytest.mark.parametrize(
    "text, version",
    [
        ("v1.2", "1.2.0"),
        ("01.002.3", "1.2.3"),
        ("7", "7.0.0"),
        ("v1.2-rc.1", "1.2.0-rc.1"),
        ("1.2.3", "1.2.3"),
    ],
)
def test_put_right(text, version):
    assert parse_version(text, normalize=True) == parse_version(version)


def test_build_metadata_count_for_nothing():
    assert parse_version("1.2.3+a") == parse_version("1.2.3+b")
    assert hash(parse_version("1.2.3+a")) == hash(parse_version("1.2.3"))
    assert str(parse_version("1.2.3-rc.1+a")) == "1.2.3-rc.1"
    assert parse_version("1.2.3") != "1.2.3"
