"""Laws of impact, and impacts between multibody systems."""
