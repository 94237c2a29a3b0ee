from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubestow.models.pod import ResourceRequirements
from kubestow.models.quantity import (
    SpelledFloat,
    format_quantity,
    milli_ceil,
    parse_quantity,
    unit_ceil,
)

SPELLINGS = [
    ("a whole number", "12", 12),
    ("a sign in front", "+12", 12),
    ("a negative number", "-1.5", Fraction(-3, 2)),
    ("nothing before the point", ".5", Fraction(1, 2)),
    ("nothing after the point", "5.", 5),
    ("leading zeros", "007", 7),
    ("thousandths", "100m", Fraction(1, 10)),
    ("a fraction of a thousandth", "0.5m", Fraction(1, 2000)),
    ("millionths", "3u", Fraction(3, 10**6)),
    ("billionths", "7n", Fraction(7, 10**9)),
    ("decimal kilo is a small k", "2k", 2000),
    ("decimal mega", "1M", 10**6),
    ("decimal giga", "1.5G", 15 * 10**8),
    ("decimal tera", "1T", 10**12),
    ("decimal peta", "1P", 10**15),
    ("decimal exa is no exponent", "1E", 10**18),
    ("binary kilo", "1Ki", 1024),
    ("binary mega", "3Mi", 3 * 2**20),
    ("a fraction of a binary giga", "0.5Gi", 2**29),
    ("binary tera", "1Ti", 2**40),
    ("binary peta", "1Pi", 2**50),
    ("binary exa", "7Ei", 7 * 2**60),
    ("an exponent", "1e3", 1000),
    ("a capital exponent", "1E3", 1000),
    ("a signed exponent", "2e+2", 200),
    ("a negative exponent", "1e-1", Fraction(1, 10)),
    ("a fraction with an exponent", "1.5e1", 15),
    ("thousandths of a byte", "128974848000m", 128974848),
    ("finer than a billionth is rounded up", "0.1n", Fraction(1, 10**9)),
    ("finer than a billionth is rounded away from zero", "-0.1n", Fraction(-1, 10**9)),
    ("a binary spelling ends at the largest number of the API", "8Ei", 2**63 - 1),
]


@pytest.mark.parametrize("text, number", [row[1:] for row in SPELLINGS], ids=[row[0] for row in SPELLINGS])
def test_every_legal_spelling_is_read_exactly(text, number):
    assert parse_quantity(text) == number


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "-",
        "m",
        "2GB",
        "1K",
        "1ki",
        "1mi",
        "1 Gi",
        "\t1",
        "1\n",
        " ",
        "1e",
        "1e3.5",
        "0x10",
        "1_000",
        "1,5",
        "Gi",
        "1Mii",
    ],
)
def test_what_is_no_quantity_is_refused_by_its_text(text):
    with pytest.raises(ValueError, match="is not a quantity"):
        parse_quantity(text)


@pytest.mark.parametrize("value", [True, None, [], {}], ids=repr)
def test_only_texts_and_numbers_are_quantities(value):
    with pytest.raises(ValueError, match="is not a quantity"):
        parse_quantity(value)


def test_a_monstrous_exponent_is_refused_instead_of_filling_the_memory():
    with pytest.raises(ValueError, match="exponent is out of range"):
        parse_quantity("1e1000000000")


@pytest.mark.parametrize(
    "value, number",
    [
        (3, 3),
        (0.1, Fraction(1, 10)),
        (1e21, 10**21),
        (2**64 + 1, 2**64 + 1),
        (SpelledFloat("0.1000000001"), Fraction(100_000_001, 10**9)),
        (SpelledFloat("123456789012345678.5"), Fraction(1234567890123456785, 10)),
    ],
    ids=["int", "float", "large float", "large int", "spelled float", "spelled float beyond float precision"],
)
def test_bare_numbers_are_read_by_their_spelling(value, number):
    assert parse_quantity(value) == number


@pytest.mark.parametrize(
    "text, milli, units",
    [("1", 1000, 1), ("100m", 100, 1), ("0.1m", 1, 1), ("1500m", 1500, 2), ("0", 0, 0), ("-500m", -500, 0)],
)
def test_rounding_goes_up(text, milli, units):
    quantity = parse_quantity(text)
    assert (milli_ceil(quantity), unit_ceil(quantity)) == (milli, units)


def test_a_number_without_a_finite_decimal_spelling_cannot_be_written():
    with pytest.raises(ValueError, match="no finite decimal spelling"):
        format_quantity(Fraction(1, 3))


@given(st.fractions(max_denominator=10**9).map(lambda f: Fraction(round(f * 10**9), 10**9)))
def test_writing_and_reading_gives_the_same_number(number):
    assert parse_quantity(format_quantity(number)) == number


DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12, places=6)


@given(DECIMALS, st.sampled_from([("", 0), ("m", -3), ("k", 3), ("M", 6), ("G", 9), ("e3", 3), ("E-2", -2)]))
def test_decimal_spellings_agree_with_decimal_arithmetic(number, suffix):
    text, power = suffix
    assert parse_quantity(f"{number:f}{text}") == Fraction(number * Decimal(10) ** power)


@given(st.integers(-(2**40), 2**40), st.sampled_from(["Ki", "Mi", "Gi"]))
def test_binary_spellings_agree_with_shifts(number, suffix):
    shift = {"Ki": 10, "Mi": 20, "Gi": 30}[suffix]
    exact = number << shift
    assert parse_quantity(f"{number}{suffix}") == max(-(2**63 - 1), min(2**63 - 1, exact))


@pytest.mark.parametrize("text", ["1 ", " 1", "\u00a01\u3000"])
def test_spaces_around_a_quantity_do_not_count(text):
    assert parse_quantity(text) == 1


AMOUNTS = [
    ("whole numbers stay", "3", "3"),
    ("thousandths stay", "1500m", "1500m"),
    ("what is finer is rounded up", "0.0001", "1m"),
    ("a long fraction is rounded up", "0.1111111111", "112m"),
    ("below zero it is rounded away from zero", "-0.0001", "-1m"),
    ("bytes are rounded to thousandths, too", "0.5", "500m"),
    ("a null is zero", None, "0"),
]


@pytest.mark.parametrize("given, stored", [row[1:] for row in AMOUNTS], ids=[row[0] for row in AMOUNTS])
def test_amounts_are_read_as_the_api_server_stores_them(given, stored):
    resources = ResourceRequirements.model_validate({"requests": {"cpu": given}})
    assert resources.requests["cpu"] == parse_quantity(stored)
