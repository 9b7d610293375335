"""Humanoid: limbs in closed form, a spine that bends as one, and a body that is pulled along (CN106502395)."""
