"""A two-layer network learns handwritten digits (scikit-learn's 1797 images of 8 x 8), in mini-batches of 32.

A plain NumPy program: `python examples/digits.py` runs it. It needs scikit-learn, for the images that come with it."""

import numpy as np

KERNELS = ("step",)
EPOCHS = 12


def prepare():
    """Pixels from 0 to 1, one-hot labels, and small random weights; 300 images are kept for the test."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    pixels, labels = digits.data.astype(np.float64) / 16.0, digits.target
    random = np.random.default_rng(7)
    order = random.permutation(len(pixels))
    return {
        "x": pixels[order],
        "target": np.eye(10)[labels[order]],
        "w1": random.normal(0.0, 0.15, (64, 64)),
        "b1": np.zeros(64),
        "w2": random.normal(0.0, 0.15, (64, 10)),
        "b2": np.zeros(10),
        "orders": [random.permutation(len(pixels) - 300) for _ in range(EPOCHS)],
    }


def step(x, target, w1, b1, w2, b2, rate):
    """One step down the gradient of the mean cross-entropy; the weights change in place."""
    hidden = np.tanh(x @ w1 + b1)
    scores = hidden @ w2 + b2
    scores -= scores.max(axis=1, keepdims=True)
    odds = np.exp(scores)
    total = odds.sum(axis=1, keepdims=True)
    loss = ((np.log(total) - scores) * target).sum() / x.shape[0]
    slope = (odds / total - target) / x.shape[0]
    back = (slope @ w2.T) * (1.0 - hidden * hidden)
    w2 -= rate * (hidden.T @ slope)
    b2 -= rate * slope.sum(axis=0)
    w1 -= rate * (x.T @ back)
    b1 -= rate * back.sum(axis=0)
    return loss


def run(data, step=step):
    w1, b1, w2, b2 = data["w1"], data["b1"], data["w2"], data["b2"]
    x, target = data["x"][:-300], data["target"][:-300]
    losses = []
    for order in data["orders"]:
        shuffled, wanted = x[order], target[order]
        for start in range(0, len(x), 32):
            losses.append(step(shuffled[start : start + 32], wanted[start : start + 32], w1, b1, w2, b2, 0.5))
    scores = np.tanh(data["x"][-300:] @ w1 + b1) @ w2 + b2
    right = scores.argmax(axis=1) == data["target"][-300:].argmax(axis=1)
    return {"w1": w1, "b1": b1, "w2": w2, "b2": b2, "losses": losses, "accuracy": right.mean()}


def summary(result):
    losses = result["losses"]
    return f"{len(losses)} steps, loss {losses[0]:.3f} to {np.mean(losses[-20:]):.3f}, {result['accuracy']:.1%} of 300 unseen digits right"


if __name__ == "__main__":
    print(summary(run(prepare())))
