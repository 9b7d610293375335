"""Goals of the solver: their errors, the rows of the Jacobian that reduce them, and their targets."""
