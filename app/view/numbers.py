"""Numbers as they are written in the view."""

import numpy as np


def nice(value: float) -> float:
    """The nearest of 1, 2, 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(value))
    steps = np.array([1.0, 2.0, 5.0, 10.0])
    return float(steps[np.argmin(np.abs(np.log(steps * power / value)))] * power)


def quantity(value: float, unit: str) -> str:
    """Three digits and a metric prefix: "12.3 N", "1.20 kN"."""
    size = abs(value)
    if size == 0.0:
        return f"0 {unit}"
    prefixes = ((1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"))
    # 0.1 N reads better than 100 mN
    factor, prefix = next((p for p in prefixes if size >= (0.9995 if p[0] > 1.0 else 0.09995) * p[0]), prefixes[-1])
    scaled = value / factor
    digits = max(0, 2 - int(np.floor(np.log10(1.0005 * abs(scaled)))))
    return f"{scaled:.{min(digits, 6)}f} {prefix}{unit}"
