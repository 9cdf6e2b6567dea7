"""Exporting: a run as tables, of quantities over time, of all events and of the contacts at the end."""

import sys
from pathlib import Path

import contactlab


def main(folder: Path) -> None:
    sim = contactlab.Simulation(contactlab.load("dice"))
    with sim.trace(every=2, height=lambda sim: sim.body("die 1").position[2], speed=speed_of_all) as run:
        sim.run(until=1.0)
    run.save(folder / "run.csv")
    run.save(folder / "run.npz")  # the same as arrays, exact to the last bit
    for what in ("events", "contacts"):
        sim.save_table(folder / f"{what}.csv", what)  # sim.to_dataframe(what) is the same for pandas
    print(f"{len(run)} rows, {sim.event_count} events and {len(sim.contact_list())} contacts written to {folder}")


def speed_of_all(sim: contactlab.Simulation) -> float:
    """The greatest speed [m/s]."""
    return float((sim.bodies.velocity**2).sum(axis=1).max() ** 0.5)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
