"""Shaded relief of a real elevation grid (the Jacksboro fault in Tennessee, 90 m cells), lit along the path of the sun.

A plain NumPy program: `python examples/relief.py` runs it. It needs matplotlib, for the grid that comes with it."""

import numpy as np

KERNELS = ("shade",)


def prepare():
    """Elevations in metres, the size of a cell per row (a degree of longitude shrinks to the north), and suns."""
    from matplotlib import cbook

    with np.load(cbook.get_sample_data("jacksboro_fault_dem.npz", asfileobj=False)) as file:
        elevation = file["elevation"].astype(np.float64)
        dx, dy, north, south = (float(file[name]) for name in ("dx", "dy", "ymin", "ymax"))
    latitude = np.deg2rad(np.linspace(north, south, len(elevation)))
    suns = [(np.deg2rad(90.0 + 7.5 * hour), np.deg2rad(15.0 + 45.0 * np.sin(np.pi * hour / 24))) for hour in range(25)]
    return {"z": elevation, "dx": 111320.0 * dx * np.cos(latitude)[1:-1, None], "dy": 111320.0 * dy, "suns": suns}


def shade(z, dx, dy, to_east, to_south, up, exaggeration):
    """Horn's slope from the eight neighbours; the light is the cosine between the ground's normal and the sun."""
    northwest, north, northeast = z[:-2, :-2], z[:-2, 1:-1], z[:-2, 2:]
    west, east = z[1:-1, :-2], z[1:-1, 2:]
    southwest, south, southeast = z[2:, :-2], z[2:, 1:-1], z[2:, 2:]
    rise_east = ((northeast + 2.0 * east + southeast) - (northwest + 2.0 * west + southwest)) * exaggeration / (8.0 * dx)
    rise_south = ((southwest + 2.0 * south + southeast) - (northwest + 2.0 * north + northeast)) * exaggeration / (8.0 * dy)
    steep = rise_east * rise_east + rise_south * rise_south
    light = (up - rise_east * to_east - rise_south * to_south) / np.sqrt(1.0 + steep)
    height = (z[1:-1, 1:-1] - z.min()) / (z.max() - z.min())
    return np.maximum(light, 0.1) * (0.75 + 0.25 * height)


def run(data, shade=shade):
    images = []
    for azimuth, altitude in data["suns"]:
        to_east, to_south = np.sin(azimuth) * np.cos(altitude), -np.cos(azimuth) * np.cos(altitude)
        images.append(shade(data["z"], data["dx"], data["dy"], float(to_east), float(to_south), float(np.sin(altitude)), 2.0))
    return {"images": images, "brightness": np.array([image.mean() for image in images])}


def summary(result):
    image = result["images"][18]
    block = image[: image.shape[0] // 18 * 18, : image.shape[1] // 6 * 6].reshape(image.shape[0] // 18, 18, -1, 6).mean(axis=(1, 3))
    level = ((block - block.min()) / (np.ptp(block) + 1e-9) * 9.999).astype(int)
    picture = "\n".join("".join(" .:-=+*#%@"[k] for k in row) for row in level)
    return f"{picture}\n{len(result['images'])} images of {image.shape[0]} x {image.shape[1]}, mean brightness {result['brightness'].mean():.4f}"


if __name__ == "__main__":
    print(summary(run(prepare())))
