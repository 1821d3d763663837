"""What options on a real share would have cost, for a grid of strikes and terms on every day of four years.

The prices are Google's; the volatility is estimated from daily highs and lows, the option by the Black-Scholes formula.
A plain NumPy program: `python examples/options.py` runs it. It needs matplotlib, for the prices that come with it."""

import numpy as np

KERNELS = ("volatility", "price")
WINDOW = 20


def prepare():
    from matplotlib import cbook

    with np.load(cbook.get_sample_data("goog.npz", asfileobj=False)) as file:
        days = file["price_data"]
        high, low, close = (days[name].astype(np.float64) for name in ("high", "low", "close"))
    return {"high": high, "low": low, "close": close, "strikes": np.linspace(0.7, 1.3, 41), "years": [0.1, 0.25, 0.5, 1.0], "rate": 0.03}


def volatility(high, low):
    """Parkinson's estimate a year, over the last WINDOW days, for every day that has so many before it."""
    days = len(high) - WINDOW + 1
    spread = np.log(high / low)
    total = np.zeros(days)
    for lag in range(WINDOW):
        total += spread[lag : lag + days] ** 2
    return np.sqrt(total * (252.0 / (4.0 * np.log(2.0) * WINDOW)))


def normal(x):
    """The normal distribution function to 7 digits (Abramowitz and Stegun 26.2.17)."""
    t = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    tail = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = tail * np.exp(-0.5 * x * x) * 0.3989422804014327
    return np.where(x > 0.0, 1.0 - tail, tail)


def price(spot, strike, sigma, years, rate):
    """Call and put, and how the call moves with the share (delta) and with the volatility (vega)."""
    width = sigma * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * sigma * sigma) * years) / width
    d2 = d1 - width
    later = strike * np.exp(-rate * years)
    delta = normal(d1)
    call = np.maximum(spot * delta - later * normal(d2), 0.0)
    vega = spot * np.exp(-0.5 * d1 * d1) * 0.3989422804014327 * np.sqrt(years)
    return call, call - spot + later, delta, vega


def run(data, volatility=volatility, price=price):
    sigma = volatility(data["high"], data["low"])[:, None]
    spot = data["close"][WINDOW - 1 :, None]
    table = [price(spot, spot * data["strikes"], sigma, years, data["rate"]) for years in data["years"]]
    return {"sigma": sigma, "table": table}


def summary(result):
    call, put, delta, vega = result["table"][1]
    return (
        f"{4 * call.size} options; volatility {result['sigma'].min():.2f} to {result['sigma'].max():.2f}; three months at the money: "
        f"call {call[:, 20].mean():.2f}, put {put[:, 20].mean():.2f}, delta {delta[:, 20].mean():.3f}, vega {vega[:, 20].mean():.2f}"
    )


if __name__ == "__main__":
    print(summary(run(prepare())))
