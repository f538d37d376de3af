"""Are the encodings of order those of their papers, held against independent formulas?"""

import cmath
import math

import pytest
import torch

from model import position
from model.attention import Attention
from model.language_model import Blocks
from model.position import PositionSettings

SETTINGS = PositionSettings(
    vocabulary=50, width=16, context=8, heads=2, head_width=8, table_rows=32
)


def test_sinusoids_as_in_section_3_5_of_2017() -> None:
    table = position.sinusoids(50, 16)
    for t in (0, 1, 7, 49):
        for i in range(8):
            angle = t / 10000 ** (2 * i / 16)
            assert table[t, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-5)
            assert table[t, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-5)


def test_rotation_is_multiplication_by_a_complex_number() -> None:
    x = torch.randn(6, 8, dtype=torch.float64)
    turned = position.rotate(x, position.rotary_angles(6, 8).double())
    for t in range(6):
        for i in range(4):
            theta = 10000 ** (-2 * i / 8)
            z = complex(x[t, 2 * i], x[t, 2 * i + 1]) * cmath.exp(1j * t * theta)
            assert turned[t, 2 * i].item() == pytest.approx(z.real, abs=1e-6)
            assert turned[t, 2 * i + 1].item() == pytest.approx(z.imag, abs=1e-6)


def test_rotary_scores_depend_on_the_distance_alone() -> None:
    q, k = torch.randn(2, 8, dtype=torch.float64)
    angles = position.rotary_angles(40, 8).double()
    turned_q = position.rotate(q.expand(40, 8), angles)
    turned_k = position.rotate(k.expand(40, 8), angles)
    scores = turned_q @ turned_k.T
    for distance in (0, 3, 11):
        band = scores.diagonal(-distance)
        torch.testing.assert_close(band, band[:1].expand_as(band), atol=1e-5, rtol=0)


def test_rotary_attention_scores_are_real_parts_of_complex_products() -> None:
    torch.manual_seed(0)
    layer = position.RotaryAttention(SETTINGS).double()
    x = torch.randn(6, 16, dtype=torch.float64)
    scores = layer.scores(x)
    q, k = layer.split(layer.query(x)).detach(), layer.split(layer.key(x)).detach()
    for head in range(2):
        for t in range(6):
            for j in range(t + 1):
                total = 0j
                for i in range(4):
                    a = complex(q[head, t, 2 * i], q[head, t, 2 * i + 1])
                    b = complex(k[head, j, 2 * i], k[head, j, 2 * i + 1])
                    total += a * b.conjugate() * cmath.exp(1j * (t - j) * 10000 ** (-2 * i / 8))
                assert scores[head, t, j].item() == pytest.approx(total.real / 8**0.5, abs=1e-6)


def test_sinusoids_are_added_to_the_tokens_and_to_nothing_else() -> None:
    model = position.SinusoidalPositions(SETTINGS)
    tokens = torch.randint(50, (1, 20))
    added = model.embed(tokens) - model.tokens(tokens)
    for t in (0, 5, 19):
        for i in range(8):
            angle = t * math.exp(-math.log(10000) * i / 8)
            assert added[0, t, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-5)
            assert added[0, t, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-5)


def test_interpolation_squeezes_places_and_ntk_keeps_the_fastest_pair() -> None:
    plain = position.rotary_angles(9, 8)
    torch.testing.assert_close(position.rotary_angles(17, 8, stretch=2.0)[::2], plain)
    larger = position.rotary_angles(9, 8, base=10000.0 * 4 ** (8 / 6))
    torch.testing.assert_close(larger[:, 0], plain[:, 0])
    torch.testing.assert_close(larger[:, -1] * 4, plain[:, -1])


def test_alibi_slopes_as_in_section_3_of_the_paper() -> None:
    assert position.alibi_slopes(8).tolist() == pytest.approx([2**-i for i in range(1, 9)])
    assert position.alibi_slopes(4).tolist() == pytest.approx([2 ** -(2 * i) for i in range(1, 5)])


def test_alibi_lowers_scores_in_proportion_to_the_distance() -> None:
    torch.manual_seed(0)
    plain = Attention(SETTINGS)
    torch.manual_seed(0)
    alibi = position.AlibiAttention(SETTINGS)
    x = torch.randn(1, 8, 16)
    lowered = plain.scores(x) - alibi.scores(x)
    for head, slope in enumerate((2**-4, 2**-8)):
        for t in range(8):
            for i in range(t + 1):
                assert lowered[0, head, t, i].item() == pytest.approx(slope * (t - i), abs=1e-5)


KINDS = [
    position.LearnedPositions,
    position.SinusoidalPositions,
    position.RotaryPositions,
    position.AlibiPositions,
    position.NoPositions,
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_encoding_runs_past_its_trained_length_and_never_looks_ahead(
    kind: type[Blocks],
) -> None:
    torch.manual_seed(0)
    model = kind(SETTINGS)
    tokens = torch.randint(50, (1, 32))
    changed = tokens.clone()
    changed[0, 20:] = (changed[0, 20:] + 1) % 50
    torch.testing.assert_close(model(tokens)[:, :20], model(changed)[:, :20])


def test_only_a_model_with_positions_tells_the_order_of_its_prefix() -> None:
    torch.manual_seed(0)
    tokens = torch.tensor([[3, 1, 4, 15, 9, 2]])
    swapped = torch.tensor([[9, 4, 1, 3, 15, 2]])
    for kind in KINDS:
        model = kind(SETTINGS).double()
        same = torch.allclose(model(tokens)[0, -1], model(swapped)[0, -1], atol=1e-9)
        assert same == (kind is position.NoPositions), kind


def test_a_learned_table_keeps_rows_that_training_never_touches() -> None:
    model = position.LearnedPositions(SETTINGS)
    assert model.positions.weight.shape == (32, 16)
    model(torch.randint(50, (2, 8))).sum().backward()
    assert model.positions.weight.grad is not None
    assert not model.positions.weight.grad[8:].any()
